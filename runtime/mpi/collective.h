#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/communicator.h"
#include "core/device.h"

namespace trigram::mpi {

/// MPI's own collectives, by its nonblocking calls, one at a time; with all that MPI may still read
/// or write.
///
/// An allreduce goes as pieces, of which a few are under way at a time, and each from a copy: a
/// nonblocking allreduce of Open MPI that works in place, or between fewer than four ranks, sends
/// all to one rank and all back again. Pieces use both directions of the links at the same time and
/// stay in the caches.
class MpiCollective {
 public:
  MpiCollective(MPI_Comm comm, int rank, int ranks, Device& device)
      : comm_(comm), rank_(rank), ranks_(ranks), device_(device) {}
  /// Whether MPI can make it of these operands: with values, reductions in f32, lengths that an int
  /// counts, and in all_to_all as many elements for each rank.
  static bool can(const Collective& collective, int ranks);

  /// Only when the one before has ended, and if it can.
  void begin(const Collective& collective);
  bool ended() const { return open_ == 0 && begun_ == end_; }
  /// Without waiting. False when nothing has moved.
  bool move_on();

 private:
  static constexpr std::size_t kPiece = std::size_t{64} << 10;  // elements
  static constexpr std::size_t kPieces = 4;                     // under way at a time

  Tensor piece(std::size_t begin) const;
  void begin_piece(MPI_Request& request);
  void begin_whole(MPI_Request& request);
  void begin_reduce_scatter(MPI_Request& request);
  void finish_oldest();
  void scale(const Tensor& sum);
  /// counts_ and offsets_: the parts of x, in units of `unit` bytes.
  void measure_parts(std::size_t unit);
  MPI_Op op() const { return c_.op == Reduce::max ? MPI_MAX : MPI_SUM; }

  const MPI_Comm comm_;
  const int rank_, ranks_;
  Device& device_;
  Collective c_ = {};
  std::size_t begun_ = 0, end_ = 0;  // elements of x
  std::array<MPI_Request, kPieces> requests_{};
  std::size_t oldest_ = 0, open_ = 0;  // of the requests, which form a ring
  std::size_t oldest_begin_ = 0;       // the element with which the oldest piece begins
  std::vector<float> copies_;
  Tensor part_;
  std::vector<int> counts_, offsets_;
};

}  // namespace trigram::mpi
