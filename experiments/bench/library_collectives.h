#pragma once

#include <memory>
#include <vector>

#include "core/context.h"

namespace trigram {

// Collectives of other libraries over TCP, message by message, with which the simulator predicts
// how long these libraries take. They need a world whose sends do not wait for the receiver
// (Communicator::buffered). Open MPI's protocol for long messages is a property of the transport,
// Transport::Protocol::open_mpi. The handshakes of gloo, and of Open MPI without `put`, are
// implemented here.

/// Open MPI 4.1: coll_tuned_allreduce_algorithm 4 (ompi/mca/coll/base/coll_base_allreduce.c).
void open_mpi_ring_allreduce(Context ctx, const Tensor& x);
/// Open MPI 4.1: coll_tuned_allreduce_algorithm 3, for a power-of-two number of ranks.
void open_mpi_recursive_doubling_allreduce(Context ctx, const Tensor& x);
/// Open MPI 4.1: coll_tuned_alltoall_algorithm 1, which starts all messages at once.
void open_mpi_linear_all_to_all(Context ctx, const Tensor& x, const Tensor& y);
/// The same all-to-all with `--mca btl_tcp_flags send`, over an eager transport.
void open_mpi_linear_all_to_all_without_put(Context ctx, const Tensor& x, const Tensor& y);

/// The ring of gloo (gloo/allreduce.cc), which PyTorch uses for vectors in host memory. The number
/// of ranks must be even, and the chunk of each rank at most 2 MiB.
///
/// A rank sends and receives at the same time, so it needs two streams. Messages go between streams
/// of the same name. "even" streams carry the data that even ranks send, and the notices that the
/// receivers of these data send back; "odd" streams do the same for odd ranks.
class GlooRing {
 public:
  GlooRing(Context ctx, const Tensor& x);
  void run(Context ctx);

 private:
  Tensor segment(int i) const;
  void phase(Context ctx, int begin, bool reduces);
  Stream& sender() { return *streams_[static_cast<std::size_t>(rank_ % 2)]; }
  Stream& receiver() { return *streams_[static_cast<std::size_t>((rank_ + 1) % 2)]; }

  const Tensor x_;
  const int rank_, ranks_, segments_;
  const Tensor tmp_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace trigram
