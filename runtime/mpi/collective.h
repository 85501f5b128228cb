#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "core/communicator.h"
#include "core/device.h"
#include "runtime/mpi/allreduce_pieces.h"

namespace trigram::mpi {

/// MPI's own collectives, by its nonblocking calls, one at a time; with all that MPI may still read
/// or write.
class MpiCollective {
 public:
  MpiCollective(MPI_Comm comm, int rank, int ranks, Device& device)
      : comm_(comm),
        rank_(rank),
        ranks_(ranks),
        device_(device),
        allreduce_(comm, rank, ranks, device) {}
  /// Whether MPI can make it of these operands: with values, reductions in f32, lengths that an int
  /// counts, and in all_to_all as many elements for each rank.
  static bool can(const Collective& collective, int ranks);

  /// Only when the one before has ended, and if it can.
  void begin(const Collective& collective);
  bool ended() const { return c_.kind == Collective::allreduce ? allreduce_.ended() : !under_way_; }
  /// Without waiting. False when nothing has moved.
  bool move_on();

 private:
  void begin_reduce_scatter();
  void finish_reduce_scatter();
  /// counts_ and offsets_: the parts of x, in units of `unit` bytes.
  void measure_parts(std::size_t unit);

  const MPI_Comm comm_;
  const int rank_, ranks_;
  Device& device_;
  Collective c_ = {};
  AllreducePieces allreduce_;
  bool under_way_ = false;  // another collective
  MPI_Request request_{};
  Tensor part_;
  std::vector<int> counts_, offsets_;
};

}  // namespace trigram::mpi
