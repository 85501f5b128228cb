#include "runtime/mpi/collective.h"

#include <algorithm>
#include <limits>

#include "runtime/mpi/session.h"

namespace trigram::mpi {

bool MpiCollective::can(const Collective& c, int ranks) {
  const bool reduces = c.kind == Collective::allreduce || c.kind == Collective::reduce_scatter;
  if (c.x.is_phantom() || (reduces && c.x.dtype() != DType::f32)) return false;
  if (c.kind == Collective::all_to_all &&
      (c.y.is_phantom() || c.x.numel() % static_cast<std::size_t>(ranks) != 0))
    return false;
  return c.x.nbytes() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

void MpiCollective::begin(const Collective& collective) {
  c_ = collective;
  begun_ = oldest_ = oldest_begin_ = 0;
  end_ = c_.x.numel();
}

bool MpiCollective::move_on() {
  const std::size_t limit = c_.kind == Collective::allreduce ? kPieces : 1;
  while (open_ < limit && begun_ < end_) {
    MPI_Request& request = requests_[(oldest_ + open_) % kPieces];
    c_.kind == Collective::allreduce ? begin_piece(request) : begin_whole(request);
    ++open_;
  }
  if (open_ == 0) return true;
  int done = 0;
  check(MPI_Test(&requests_[oldest_], &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done) finish_oldest();
  return done;
}

Tensor MpiCollective::piece(std::size_t begin) const {
  const std::size_t count = std::min(kPiece, c_.x.numel() - begin);
  return c_.x.slice(begin, count, count);
}

void MpiCollective::begin_piece(MPI_Request& request) {
  const Tensor x = piece(begun_);
  copies_.resize(std::max(copies_.size(), std::min(c_.x.numel(), kPiece * kPieces)));
  float* const copy = copies_.data() + (begun_ / kPiece) % kPieces * kPiece;
  std::copy_n(x.floats().data(), x.numel(), copy);
  check(
      MPI_Iallreduce(copy, x.data(), static_cast<int>(x.numel()), MPI_FLOAT, op(), comm_, &request),
      "MPI_Iallreduce");
  begun_ += x.numel();
}

void MpiCollective::begin_whole(MPI_Request& request) {
  const int bytes = static_cast<int>(c_.x.nbytes());
  begun_ = end_;
  switch (c_.kind) {
    case Collective::allreduce: return;  // goes in pieces
    case Collective::reduce_scatter: return begin_reduce_scatter(request);
    case Collective::allgather:
      measure_parts(1);
      check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, c_.x.data(), counts_.data(), offsets_.data(),
                            MPI_BYTE, comm_, &request),
            "MPI_Iallgatherv");
      return;
    case Collective::broadcast:
      check(MPI_Ibcast(c_.x.data(), bytes, MPI_BYTE, c_.root, comm_, &request), "MPI_Ibcast");
      return;
    case Collective::all_to_all:
      check(MPI_Ialltoall(c_.x.data(), bytes / ranks_, MPI_BYTE, c_.y.data(), bytes / ranks_,
                          MPI_BYTE, comm_, &request),
            "MPI_Ialltoall");
      return;
  }
}

void MpiCollective::begin_reduce_scatter(MPI_Request& request) {
  measure_parts(sizeof(float));
  const auto mine = static_cast<std::size_t>(counts_[static_cast<std::size_t>(rank_)]);
  part_ = device_.empty(mine);
  check(MPI_Ireduce_scatter(c_.x.data(), part_.data(), counts_.data(), MPI_FLOAT, op(), comm_,
                            &request),
        "MPI_Ireduce_scatter");
}

void MpiCollective::finish_oldest() {
  oldest_ = (oldest_ + 1) % kPieces;
  --open_;
  if (c_.kind == Collective::allreduce) {
    scale(piece(oldest_begin_));
    oldest_begin_ += kPiece;
  } else if (c_.kind == Collective::reduce_scatter) {
    scale(part_);
    device_.copy(c_.x.part(static_cast<std::size_t>(rank_), static_cast<std::size_t>(ranks_)),
                 part_);
    part_ = {};
  }
  if (ended()) c_ = {};  // lets go of the caller's memory
}

void MpiCollective::scale(const Tensor& sum) {
  if (c_.op == Reduce::avg) device_.axpby(1.0f / static_cast<float>(ranks_), sum, 0, sum);
}

void MpiCollective::measure_parts(std::size_t unit) {
  counts_.clear();
  offsets_.clear();
  std::size_t before = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Tensor part = c_.x.part(static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks_));
    counts_.push_back(static_cast<int>(part.nbytes() / unit));
    offsets_.push_back(static_cast<int>(before / unit));
    before += part.nbytes();
  }
}

}  // namespace trigram::mpi
