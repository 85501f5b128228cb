#pragma once

#include "cuda/net/connection.h"
#include "cuda/net/slices.h"

namespace trigram::net {

/// The receiving side of a connection. A slice goes from the kernel directly to its place in the
/// buffer of its message. Each stream carries messages in order. So a stream is not read while its
/// next slice belongs to a message for which NCCL has not posted a receive, and the sender stops
/// when the kernel's buffers are full.
class Receiver : public Connection {
 public:
  Receiver(std::vector<Descriptor> sockets, std::chrono::seconds timeout, Counters& counters);

 private:
  /// Headers, and messages that are shorter than this, are read many at a time.
  static constexpr std::size_t kStagingBytes = 16 << 10;
  struct Stream {
    Request* request = nullptr;  // receive of the arriving slice; null: a header comes next
    std::byte* into = nullptr;
    std::size_t left = 0;       // bytes of the slice that have not arrived
    bool may_have_data = true;  // false: the kernel said that there was nothing
    bool waits = false;         // the next slice belongs to a message without a posted receive
    bool closing = false;       // the kernel has reported the end, which may come after more data
    bool ended = false;         // the sender has closed the stream
    std::size_t begin = 0, end = 0;  // the range of `staging` that holds bytes
    std::array<std::byte, kStagingBytes> staging;
  };

  bool progress() override;
  /// Reads the bytes that have arrived on a stream. Returns true if at least one byte was moved.
  bool pump(std::size_t index);
  /// Moves staged bytes to messages. Returns false if the next message has no posted receive.
  bool unstage(Stream& stream);
  /// Begins the slice whose header is staged. Returns false if its message has no posted receive.
  bool begin_slice(Stream& stream);
  void take(Stream& stream, std::size_t bytes);
  void check_ends() const;

  std::vector<Stream> streams_;
  std::size_t recent_ = 0;    // the stream that had data last
  bool only_recent_ = false;  // at the last poll, no other stream had become ready
};

}  // namespace trigram::net
