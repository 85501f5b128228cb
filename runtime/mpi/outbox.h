#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <vector>

#include "core/tensor.h"
#include "netmodels/transport.h"
#include "runtime/host/staging.h"

namespace trigram::mpi {

/// The description of a tensor that is sent before its values.
struct Header {
  std::uint64_t numel = 0, priced_numel = 0;
  std::uint32_t dtype = 0, phantom = 0;
  bool operator==(const Header&) const = default;
};
Header header_of(const Tensor& x);

/// The messages of a stream whose sends are over, but that are not received: copies of them, with
/// all that MPI may still read. They are bounded by what the transport takes.
class Outbox {
 public:
  /// Values longer than this, or filler, it does not take.
  static constexpr std::size_t kLongest = std::size_t{8} << 20;

  /// To each of so many ranks. `transport` outlives it.
  Outbox(MPI_Comm comm, int tag, int ranks, const Transport& transport);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Whether there is room for a tensor; `filler` bytes are sent after its values.
  bool takes(int peer, const Tensor& x, std::size_t filler, TrafficClass traffic) const;
  /// Copies it and lets it leave.
  void send(int peer, const Tensor& x, std::size_t filler);
  /// Looks which have been received since, and says how many.
  std::size_t forget_received();
  bool empty() const { return messages_.empty(); }
  /// Who has not received the oldest of them.
  int slowest() const { return messages_.front().peer; }

 private:
  struct Message {
    int peer;
    double nbytes;  // priced
    Header header;
    host::StagedTensor values;
    int open = 0;  // parts that MPI still reads
  };
  struct Held {
    std::int64_t messages = 0;
    double nbytes = 0;
  };
  using Send = decltype(&MPI_Isend);
  void start(Message& message, Send how, const void* data, std::size_t nbytes, const char* call);

  const MPI_Comm comm_;
  const int tag_;
  const Transport& transport_;
  host::Staging staging_;
  std::list<Message> messages_;
  std::vector<Held> held_;             // by rank
  std::vector<MPI_Request> requests_;  // of all parts
  std::vector<Message*> owners_;       // of the requests
  std::vector<int> completed_;
  std::vector<std::byte> filler_;
};

}  // namespace trigram::mpi
