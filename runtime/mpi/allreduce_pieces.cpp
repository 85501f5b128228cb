#include "runtime/mpi/allreduce_pieces.h"

#include <algorithm>

#include "runtime/mpi/session.h"

namespace trigram::mpi {

void AllreducePieces::begin(const Tensor& x, Reduce op) {
  x_ = x;
  op_ = op;
  piece_numel_ = std::clamp((x.numel() + 1) / 2, kLeastPiece, kLargestPiece);
  count_ = (x.numel() + piece_numel_ - 1) / piece_numel_;
  begun_ = ended_ = 0;
  copies_.resize(std::max(copies_.size(), std::min(x.numel(), piece_numel_ * kUnderWay)));
}

bool AllreducePieces::move_on() {
  while (begun_ < count_ && begun_ < ended_ + kUnderWay) begin_piece(begun_++);
  if (ended()) return true;
  int done = 0;
  check(MPI_Test(&requests_[ended_ % kUnderWay], &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (!done) return false;
  const Tensor sum = piece(ended_++);
  if (op_ == Reduce::avg) device_.axpby(1.0f / static_cast<float>(ranks_), sum, 0, sum);
  if (ended()) x_ = {};  // lets go of the caller's memory
  return true;
}

Tensor AllreducePieces::piece(std::size_t i) const {
  const std::size_t first = i * piece_numel_, count = std::min(piece_numel_, x_.numel() - first);
  return x_.slice(first, count, count);
}

void AllreducePieces::begin_piece(std::size_t i) {
  const Tensor x = piece(i);
  float* const copy = copies_.data() + i % kUnderWay * piece_numel_;
  std::copy_n(x.floats().data(), x.numel(), copy);
  const bool backward = comms_.backward != MPI_COMM_NULL && i % 2 == 1;
  check(MPI_Iallreduce(copy, x.data(), static_cast<int>(x.numel()), MPI_FLOAT,
                       op_ == Reduce::max ? MPI_MAX : MPI_SUM,
                       backward ? comms_.backward : comms_.forward, &requests_[i % kUnderWay]),
        "MPI_Iallreduce");
}

}  // namespace trigram::mpi
