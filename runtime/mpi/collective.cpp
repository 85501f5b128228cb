#include "runtime/mpi/collective.h"

#include <limits>

#include "runtime/mpi/session.h"

namespace trigram::mpi {

bool MpiCollective::supports(const Collective& c, int ranks) {
  const bool reduces = c.kind == Collective::allreduce || c.kind == Collective::reduce_scatter;
  if (c.x.is_phantom() || (reduces && c.x.dtype() != DType::f32)) return false;
  if (c.kind == Collective::all_to_all &&
      (c.y.is_phantom() || c.x.numel() % static_cast<std::size_t>(ranks) != 0))
    return false;
  return c.x.nbytes() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

void MpiCollective::begin(const Collective& collective) {
  current_ = collective;
  if (current_.kind == Collective::allreduce) return allreduce_.begin(current_.x, current_.op);
  in_flight_ = true;
  const int bytes = static_cast<int>(current_.x.nbytes());
  switch (current_.kind) {
    case Collective::allreduce: return;
    case Collective::reduce_scatter: return begin_reduce_scatter();
    case Collective::allgather:
      set_counts(1);
      check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, current_.x.data(), counts_.data(),
                            offsets_.data(), MPI_BYTE, comm_, &request_),
            "MPI_Iallgatherv");
      return;
    case Collective::broadcast:
      check(MPI_Ibcast(current_.x.data(), bytes, MPI_BYTE, current_.root, comm_, &request_),
            "MPI_Ibcast");
      return;
    case Collective::all_to_all:
      check(MPI_Ialltoall(current_.x.data(), bytes / ranks_, MPI_BYTE, current_.y.data(),
                          bytes / ranks_, MPI_BYTE, comm_, &request_),
            "MPI_Ialltoall");
      return;
  }
}

bool MpiCollective::progress() {
  if (current_.kind == Collective::allreduce) return allreduce_.progress();
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (!done) return false;
  if (current_.kind == Collective::reduce_scatter) finish_reduce_scatter();
  in_flight_ = false;
  current_.x = current_.y = {};  // releases the caller's memory
  return true;
}

void MpiCollective::begin_reduce_scatter() {
  set_counts(sizeof(float));
  const auto mine = static_cast<std::size_t>(counts_[static_cast<std::size_t>(rank_)]);
  part_ = device_.empty(mine);
  check(MPI_Ireduce_scatter(current_.x.data(), part_.data(), counts_.data(), MPI_FLOAT,
                            current_.op == Reduce::max ? MPI_MAX : MPI_SUM, comm_, &request_),
        "MPI_Ireduce_scatter");
}

void MpiCollective::finish_reduce_scatter() {
  if (current_.op == Reduce::avg) device_.axpby(1.0f / static_cast<float>(ranks_), part_, 0, part_);
  device_.copy(current_.x.part(static_cast<std::size_t>(rank_), static_cast<std::size_t>(ranks_)),
               part_);
  part_ = {};
}

void MpiCollective::set_counts(std::size_t unit) {
  counts_.clear();
  offsets_.clear();
  std::size_t before = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Tensor part =
        current_.x.part(static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks_));
    counts_.push_back(static_cast<int>(part.nbytes() / unit));
    offsets_.push_back(static_cast<int>(before / unit));
    before += part.nbytes();
  }
}

}  // namespace trigram::mpi
