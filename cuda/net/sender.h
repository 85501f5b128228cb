#pragma once

#include "cuda/net/connection.h"
#include "cuda/net/slices.h"

namespace trigram::net {

/// The sending side of a connection. Slices are assigned to streams in message order. A stream gets
/// further slices as long as none of its bytes wait in the kernel; otherwise the next slice goes to
/// the next stream. So a connection uses one stream if the network does not limit a flow, and all
/// streams if it does. Which flows share a queue of the network is random; a stream that is slower
/// than the others gets fewer slices and delays no other stream. A message of one slice stays on
/// the current stream as long as the kernel accepts it.
class Sender : public Connection {
 public:
  Sender(std::vector<Descriptor> sockets, std::chrono::seconds timeout, Counters& counters);

 private:
  struct Stream {
    // The bytes that are being sent: a slice of the message `first`, or the whole messages from
    // `first` on, joined.
    std::uint64_t first = 0;
    int messages = 0;  // 0: nothing is being sent
    SliceHeader header;
    std::vector<std::byte> joined;  // empty: a slice, which is sent from its message's memory
    std::size_t sent = 0;           // bytes that the kernel has taken, with headers
    bool has_room = true;
    Clock::time_point bounded_at{};  // when the limit on unsent bytes was last adapted

    std::size_t bytes() const {
      return joined.empty() ? sizeof header + header.bytes : joined.size();
    }
  };

  bool progress() override;
  void find_room();
  void assign(Stream& stream);
  void assign_joined(Stream& stream);
  void assign_slice(Stream& stream);
  /// Hands the rest of a stream's bytes to the kernel, as far as there is room.
  void flush(std::size_t index);
  ssize_t send_rest(std::size_t index);
  void adapt_bound(std::size_t index);

  std::vector<Stream> streams_;
  std::size_t turn_ = 0;    // the stream that gets the next slice, if there is room
  std::uint64_t next_ = 0;  // the first message that is not completely assigned
};

}  // namespace trigram::net
