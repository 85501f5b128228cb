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
    Request* request = nullptr;  // whose slice is under way; null: none
    SliceHeader header;
    std::size_t sent = 0;  // bytes of header and slice that the kernel has taken
    bool has_room = true;
    Clock::time_point bounded_at{};  // when the bound of unsent bytes was adapted
  };

  bool progress() override;
  void find_room();
  void deal(Stream& stream);
  /// Hands the slice of a stream to the kernel, as far as there is room.
  void flush(std::size_t index);
  ssize_t send_rest(std::size_t index);
  void adapt_bound(std::size_t index);

  std::vector<Stream> streams_;
  std::size_t turn_ = 0;    // the stream that gets the next slice, if there is room
  std::uint64_t next_ = 0;  // the first message that is not dealt completely
};

}  // namespace trigram::net
