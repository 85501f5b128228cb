#pragma once

#include "cuda/net/connection.h"
#include "cuda/net/slices.h"

namespace trigram::net {

/// The sending side of a connection. Slices are dealt in the order of messages. A stream gets
/// slices as long as the network takes them at once; when bytes wait in the kernel, the next slice
/// goes to the next stream. So a connection is as fast as one socket where one socket is not
/// limited, and uses all streams where each is. A stream that is slower than the others gets fewer
/// slices, and delays no other stream: flows share the queues of a network by chance. A message of
/// one slice stays on the stream of the message before it as long as the kernel takes it.
class Sender : public Connection {
 public:
  Sender(std::vector<Descriptor> sockets, std::chrono::seconds timeout, Counters& counters);

 private:
  struct Stream {
    // The bytes that are being sent: a slice of the message `first`, or the whole messages from
    // `first` on, joined.
    std::uint64_t first = 0;
    int messages = 0;  // 0: nothing is under way
    SliceHeader header;
    std::vector<std::byte> joined;  // empty: a slice, which is sent from its message's memory
    std::size_t sent = 0;           // bytes that the kernel has taken, with headers
    bool has_room = true;
    Clock::time_point bounded_at{};  // when the bound of unsent bytes was adapted

    std::size_t bytes() const {
      return joined.empty() ? sizeof header + header.bytes : joined.size();
    }
  };

  bool progress() override;
  void find_room();
  void deal(Stream& stream);
  void deal_joined(Stream& stream);
  void deal_slice(Stream& stream);
  /// Hands what is under way on a stream to the kernel, as far as there is room.
  void flush(std::size_t index);
  ssize_t send_rest(std::size_t index);
  void adapt_bound(std::size_t index);

  std::vector<Stream> streams_;
  std::size_t turn_ = 0;    // the stream that gets the next slice, if there is room
  std::uint64_t next_ = 0;  // the first message that is not dealt completely
};

}  // namespace trigram::net
