#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/communicator.h"
#include "core/device.h"
#include "runtime/mpi/allreduce_pieces.h"

namespace trigram::mpi {

/// Runs MPI's own collectives, one at a time, through MPI's nonblocking calls. Keeps the tensors
/// alive that MPI may still read or write.
class MpiCollective {
 public:
  MpiCollective(MPI_Comm comm, int rank, int ranks, Device& device)
      : comm_(comm),
        rank_(rank),
        ranks_(ranks),
        device_(device),
        allreduce_(comm, rank, ranks, device) {}
  /// True if MPI can run the collective with these operands: they are not phantoms (core/tensor.h),
  /// reductions are in f32, the length in bytes fits an int, and the number of elements of an
  /// all_to_all is a multiple of the number of ranks.
  static bool supports(const Collective& collective, int ranks);

  /// Begins a collective. The previous collective must have ended, and `supports(collective,
  /// ranks)` must be true.
  void begin(const Collective& collective);
  bool ended() const {
    return current_.kind == Collective::allreduce ? allreduce_.ended() : !in_flight_;
  }
  /// Makes progress without blocking. Returns false if nothing has advanced.
  bool progress();

 private:
  void begin_reduce_scatter();
  void finish_reduce_scatter();
  /// Sets the counts and offsets of the ranks' parts of x, in units of `unit` bytes.
  void set_counts(std::size_t unit);

  const MPI_Comm comm_;
  const int rank_, ranks_;
  Device& device_;
  Collective current_ = {};
  AllreducePieces allreduce_;
  bool in_flight_ = false;  // a collective other than allreduce is in flight
  MPI_Request request_{};
  Tensor part_;
  std::vector<int> counts_, offsets_;
};

}  // namespace trigram::mpi
