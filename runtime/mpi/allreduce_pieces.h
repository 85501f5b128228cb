#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/communicator.h"
#include "core/device.h"
#include "runtime/mpi/stream_comms.h"

namespace trigram::mpi {

/// An allreduce in f32 by MPI's nonblocking one, piece by piece: a few are under way at a time, use
/// both directions of the links, and stay in the caches.
///
/// Short vectors go in two, one for each direction. Each goes from a copy: one of Open MPI that
/// works in place sends all to one rank and all back again. Between fewer than four ranks it does
/// so in any case, to the first; so there every other piece goes between the ranks in the opposite
/// order, and the last adds up as much as the first.
class AllreducePieces {
 public:
  AllreducePieces(const StreamComms& comms, int ranks, Device& device)
      : comms_(comms), ranks_(ranks), device_(device) {}

  /// Only when the one before has ended.
  void begin(const Tensor& x, Reduce op);
  bool ended() const { return ended_ == count_; }
  /// Without waiting. False when nothing has moved.
  bool move_on();

 private:
  static constexpr std::size_t kLeastPiece = std::size_t{4} << 10;  // elements
  static constexpr std::size_t kLargestPiece = std::size_t{64} << 10;
  static constexpr std::size_t kUnderWay = 8;

  Tensor piece(std::size_t i) const;
  void begin_piece(std::size_t i);

  const StreamComms comms_;
  const int ranks_;
  Device& device_;
  Tensor x_;
  Reduce op_ = Reduce::sum;
  std::size_t piece_numel_ = 0;
  std::size_t count_ = 0, begun_ = 0, ended_ = 0;  // pieces
  std::array<MPI_Request, kUnderWay> requests_{};
  std::vector<float> copies_;
};

}  // namespace trigram::mpi
