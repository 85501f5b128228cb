#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <vector>

#include "core/tensor.h"
#include "netmodels/transport.h"
#include "runtime/host/staging.h"

namespace trigram::mpi {

/// Describes a tensor. It is sent before the tensor's values.
struct Header {
  std::uint64_t numel = 0, priced_numel = 0;
  std::uint32_t dtype = 0, phantom = 0;
  bool operator==(const Header&) const = default;
};
Header header_of(const Tensor& x);
/// The number of bytes of values that a message carries.
inline std::size_t payload_of(const Tensor& x) { return x.is_phantom() ? 0 : x.nbytes(); }

/// The messages of a stream whose sends are complete, but which have not been received. The outbox
/// holds copies of them, with everything that MPI may still read. It holds no more than the
/// transport accepts.
class Outbox {
 public:
  /// The longest values, and the longest filler, that the outbox accepts, in bytes.
  static constexpr std::size_t kLongest = std::size_t{8} << 20;

  /// `ranks` is the number of peers. `transport` must outlive this object.
  Outbox(MPI_Comm comm, int tag, int ranks, const Transport& transport);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// True if there is room for a tensor whose values are followed by `filler` bytes of padding.
  bool has_room(int peer, const Tensor& x, std::size_t filler, TrafficClass traffic) const;
  /// Copies the tensor and starts to send it.
  void send(int peer, const Tensor& x, std::size_t filler);
  /// Removes the messages that have been received, and returns their number.
  std::size_t forget_received();
  bool empty() const { return messages_.empty(); }
  /// The peer to which the oldest message is addressed.
  int slowest() const { return messages_.front().peer; }

 private:
  struct Message {
    int peer;
    double nbytes;  // priced bytes
    Header header;
    host::StagedTensor values;
    int open = 0;  // number of parts that MPI may still read
  };
  struct Fill {
    std::int64_t messages = 0;
    double nbytes = 0;
  };
  using Send = decltype(&MPI_Isend);
  void start(Message& message, Send isend, const void* data, std::size_t nbytes, const char* call);

  const MPI_Comm comm_;
  const int tag_;
  const Transport& transport_;
  host::Staging staging_;
  std::list<Message> messages_;
  std::vector<Fill> fill_;             // of the transport's buffers, by destination
  std::vector<MPI_Request> requests_;  // of all parts
  std::vector<Message*> owners_;       // the message of each request
  std::vector<int> completed_;
  std::vector<std::byte> filler_;
};

}  // namespace trigram::mpi
