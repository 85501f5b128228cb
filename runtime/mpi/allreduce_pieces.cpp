#include "runtime/mpi/allreduce_pieces.h"

#include <algorithm>

#include "runtime/mpi/session.h"

namespace trigram::mpi {
namespace {

constexpr int kMaxRanksDirect = 3;
// The largest pieces, in elements: of a direct allreduce that exchanges whole pieces, of a direct
// allreduce that scatters them, and of MPI_Iallreduce.
constexpr std::size_t kLargestExchanged = std::size_t{32} << 10;
constexpr std::size_t kLargestDirectPiece = std::size_t{512} << 10;
constexpr std::size_t kLargestNativePiece = std::size_t{64} << 10;
constexpr std::size_t kDirectPiecesInFlight = 2;

}  // namespace

AllreducePieces::AllreducePieces(MPI_Comm comm, int rank, int ranks, Device& device)
    : comm_(comm),
      rank_(static_cast<std::size_t>(rank)),
      ranks_(static_cast<std::size_t>(ranks)),
      device_(device),
      direct_(ranks <= kMaxRanksDirect) {}

void AllreducePieces::begin(const Tensor& x, Reduce op) {
  x_ = x;
  op_ = op;
  const std::size_t largest = direct_ ? kLargestDirectPiece : kLargestNativePiece;
  count_ = (x.numel() + largest - 1) / largest;
  begun_ = ended_ = next_slot_ = 0;
  slots_used_ = std::min(count_, direct_ ? kDirectPiecesInFlight : kMaxInFlight);
  while (begun_ < slots_used_) begin_piece(slots_[begun_]);
}

/// Slots are tested in turn, even if another slot is ready first: MPI requires that all ranks start
/// all steps in the same order.
bool AllreducePieces::progress() {
  if (ended()) return true;
  Slot& slot = slots_[next_slot_];
  int done = 0;
  check(MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (!done) return false;
  if (step_ended(slot)) {
    ++ended_;
    if (begun_ < count_) begin_piece(slot);
    else end_slot(slot);
  }
  do next_slot_ = (next_slot_ + 1) % slots_used_;
  while (!ended() && slots_[next_slot_].step == Slot::idle);
  return true;
}

void AllreducePieces::begin_piece(Slot& slot) {
  slot.piece = x_.part(begun_++, count_);
  if (!direct_) return begin_native(slot);
  if (slot.piece.numel() <= kLargestExchanged) return begin_exchange(slot);
  begin_scatter(slot);
}

/// Marks a slot as free. Also releases the caller's memory.
void AllreducePieces::end_slot(Slot& slot) {
  slot.step = Slot::idle;
  slot.piece = {};
  if (ended()) x_ = {};
}

/// Returns true if the step that has ended was the last of its piece.
bool AllreducePieces::step_ended(Slot& slot) {
  switch (slot.step) {
    case Slot::idle: return false;
    case Slot::native: finish(slot.piece); return true;
    case Slot::exchange: reduce_from_all(slot.piece, slot.buffer); return true;
    case Slot::scatter:
      reduce_from_all(own_part(slot), slot.buffer);
      begin_gather(slot);
      return false;
    case Slot::gather: return true;
  }
  return true;
}

void AllreducePieces::begin_native(Slot& slot) {
  slot.step = Slot::native;
  const Tensor& x = slot.piece;
  const Tensor copy = buffer_for(slot, x.numel());
  device_.copy(copy, x);
  check(MPI_Iallreduce(copy.data(), x.data(), static_cast<int>(x.numel()), MPI_FLOAT,
                       op_ == Reduce::max ? MPI_MAX : MPI_SUM, comm_, &slot.request),
        "MPI_Iallreduce");
}

/// Sends the whole piece to all ranks. The values of rank r arrive in section r of the slot's
/// buffer.
void AllreducePieces::begin_exchange(Slot& slot) {
  slot.step = Slot::exchange;
  const std::size_t numel = slot.piece.numel();
  slot.sent.counts.assign(ranks_, static_cast<int>(numel));
  slot.sent.offsets.assign(ranks_, 0);
  slot.received.counts = slot.sent.counts;
  slot.received.offsets.clear();
  for (std::size_t r = 0; r < ranks_; ++r)
    slot.received.offsets.push_back(static_cast<int>(r * numel));
  send_to_all(slot, buffer_for(slot, ranks_ * numel));
}

/// Sends to each rank the values of that rank's part. The values of rank r arrive in section r of
/// the slot's buffer.
void AllreducePieces::begin_scatter(Slot& slot) {
  slot.step = Slot::scatter;
  const std::size_t mine = own_part(slot).numel();
  slot.sent = {};
  slot.received = {};
  std::size_t before = 0;
  for (std::size_t r = 0; r < ranks_; ++r) {
    const std::size_t part = slot.piece.part(r, ranks_).numel();
    slot.sent.counts.push_back(static_cast<int>(part));
    slot.sent.offsets.push_back(static_cast<int>(before));
    slot.received.counts.push_back(static_cast<int>(mine));
    slot.received.offsets.push_back(static_cast<int>(r * mine));
    before += part;
  }
  send_to_all(slot, buffer_for(slot, ranks_ * mine));
}

/// Receives each reduced part from its owner, into its place in the piece.
void AllreducePieces::begin_gather(Slot& slot) {
  slot.step = Slot::gather;
  slot.sent.counts[rank_] = static_cast<int>(own_part(slot).numel());
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_FLOAT, slot.piece.data(), slot.sent.counts.data(),
                        slot.sent.offsets.data(), MPI_FLOAT, comm_, &slot.request),
        "MPI_Iallgatherv");
}

/// Sets the counts so that values are sent to all ranks except this one.
void AllreducePieces::send_to_all(Slot& slot, const Tensor& buffer) {
  slot.sent.counts[rank_] = slot.received.counts[rank_] = 0;
  check(MPI_Ialltoallv(slot.piece.data(), slot.sent.counts.data(), slot.sent.offsets.data(),
                       MPI_FLOAT, buffer.data(), slot.received.counts.data(),
                       slot.received.offsets.data(), MPI_FLOAT, comm_, &slot.request),
        "MPI_Ialltoallv");
}

/// Reduces in the order of ranks, whichever rank this is, so that all ranks compute the same sums.
/// Section r of `buffer` has the values of x from rank r.
void AllreducePieces::reduce_from_all(const Tensor& x, const Tensor& buffer) {
  const auto from = [&](std::size_t r) {
    return buffer.slice(r * x.numel(), x.numel(), x.numel());
  };
  const auto reduce = [&](const Tensor& operand, const Tensor& into) {
    if (op_ == Reduce::max) device_.maximum(operand, into);
    else device_.axpby(1, operand, 1, into);
  };
  for (std::size_t r = 1; r < rank_; ++r) reduce(from(r), from(0));
  if (rank_ > 0) reduce(from(0), x);
  for (std::size_t r = rank_ + 1; r < ranks_; ++r) reduce(from(r), x);
  finish(x);
}

void AllreducePieces::finish(const Tensor& sum) {
  if (op_ == Reduce::avg) device_.axpby(1.0f / static_cast<float>(ranks_), sum, 0, sum);
}

Tensor AllreducePieces::own_part(const Slot& slot) const { return slot.piece.part(rank_, ranks_); }

/// The first `numel` elements of the slot's buffer, which grows if it is shorter.
Tensor AllreducePieces::buffer_for(Slot& slot, std::size_t numel) {
  if (slot.buffer.numel() < numel) slot.buffer = device_.empty(numel);
  return slot.buffer.slice(0, numel, numel);
}

}  // namespace trigram::mpi
