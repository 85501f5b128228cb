#pragma once

#include "cuda/net/connection.h"
#include "cuda/net/slices.h"

namespace trigram::net {

/// The sending side of a connection. Slices are dealt in the order of messages, each to the next
/// stream that the kernel has room for. So a stream that the network slows down gets fewer slices
/// and delays no other stream, which matters where streams share the queues of a network by chance.
/// A message of one slice stays on the stream of the message before it, as long as that stream has
/// room, so that small messages are no slower than on one socket.
class Sender : public Connection {
 public:
  Sender(std::vector<Descriptor> sockets, std::chrono::seconds timeout, Counters& counters);

 private:
  struct Stream {
    Request* request = nullptr;  // whose slice is under way; null: none
    SliceHeader header;
    std::size_t sent = 0;  // bytes of header and slice that the kernel has taken
    bool has_room = true;
  };

  bool progress() override;
  void find_room();
  void deal(Stream& stream);
  /// Hands the slice of a stream to the kernel, as far as there is room.
  void flush(std::size_t index);

  std::vector<Stream> streams_;
  std::size_t turn_ = 0;    // the stream that gets the next slice, if there is room
  std::uint64_t next_ = 0;  // the first message that is not dealt completely
};

}  // namespace trigram::net
