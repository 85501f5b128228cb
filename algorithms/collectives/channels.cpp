#include "algorithms/collectives/channels.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "algorithms/collectives/exchange.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// Workers of a node that the ranks of ctx.comm are made of, node after node; 1 where that is not
/// known.
int workers_in_a_row(Context ctx) {
  const auto& nodes = ctx.layout->nodes();
  return ctx.size() == ctx.layout->ranks() ? ctx.size() / static_cast<int>(nodes.size()) : 1;
}

/// Stages [first, last) of a ring.
struct Stages {
  int first, last;
};

/// One ring over one part of a vector. In stage k, of 2(P-1), the rank at position p sends chunk
/// p - 1 - k to the next position, where it is added to in the first P-1 stages and kept in the
/// rest.
class Channel {
 public:
  Channel(Context ctx, const Tensor& part, Reduce op, int index, int group, std::size_t slice)
      : ctx_(ctx),
        x_(part),
        op_(op),
        group_(group),
        slice_bytes_(slice),
        workers_(workers_in_a_row(ctx)) {
    for (int i = 0; i < group; ++i)
      room_.emplace_back(ctx, longest_part(part, static_cast<std::size_t>(ctx.size())));
    shift_ = index % workers_;
    const int rank = ctx.rank();
    position_ = rank - rank % workers_ + (rank % workers_ - shift_ + workers_) % workers_;
  }

  /// Adds what this rank sends and receives in a turn. Turns go round the ranks of a group, in all
  /// groups at once.
  void join(std::vector<Transfer>& batch, int turn) {
    arriving_.clear();
    if (position_ % group_ == (turn + 1) % group_) receive(batch, stages(turn));
    if (position_ % group_ == turn % group_) send(batch, stages(turn));
  }
  /// Reduces what has arrived.
  void finish() {
    for (const auto& [arrived, chunk, last] : arriving_) {
      accumulate(ctx_, op_, arrived, chunk);
      if (last) finish_reduction(ctx_, op_, chunk);
    }
  }

  /// Until the rank whose turn comes last has passed on all.
  static int turns(int ranks, int group) { return 2 * (ranks - 1) + group - 1; }

 private:
  struct Arriving {
    Tensor arrived, chunk;
    bool last;  // the sum is complete
  };

  /// Those up to the turn that the rank has not passed on yet; the turn before has brought it the
  /// chunk of the last of them.
  Stages stages(int turn) const {
    return {std::max(0, turn + 1 - group_), std::min(2 * (ctx_.size() - 1), turn + 1)};
  }
  int rank_at(int position) const {
    const int p = (position + ctx_.size()) % ctx_.size();
    return p - p % workers_ + (p % workers_ + shift_) % workers_;
  }
  Tensor chunk(int index) const {
    const int P = ctx_.size();
    return x_.part(static_cast<std::size_t>((index % P + P) % P), static_cast<std::size_t>(P));
  }
  void send(std::vector<Transfer>& batch, Stages which) const {
    for (int k = which.first; k < which.last; ++k)
      add(batch, Transfer::send, chunk(position_ - 1 - k), rank_at(position_ + 1));
  }
  void receive(std::vector<Transfer>& batch, Stages which) {
    const int reducing = ctx_.size() - 1;
    for (int k = which.first; k < which.last; ++k) {
      const Tensor into = chunk(position_ - 2 - k);
      const bool adds = k < reducing;
      if (adds) arriving_.push_back({room_[arriving_.size()].like(into), into, k == reducing - 1});
      add(batch, Transfer::recv, adds ? arriving_.back().arrived : into, rank_at(position_ - 1));
    }
  }

  /// The slices of a chunk.
  void add(std::vector<Transfer>& batch, Transfer::Kind kind, const Tensor& chunk, int peer) const {
    const std::size_t slices = parts_within(chunk, slice_bytes_);
    for (std::size_t i = 0; i < slices; ++i) batch.push_back({kind, chunk.part(i, slices), peer});
  }

  Context ctx_;
  Tensor x_;
  Reduce op_;
  int group_;
  std::size_t slice_bytes_;
  int workers_, shift_ = 0, position_ = 0;
  std::vector<Scratch> room_;
  std::vector<Arriving> arriving_;
};

}  // namespace

void channelled_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Rings& rings) {
  const int P = ctx.size();
  if (P == 1) return;
  const int group = std::gcd(P, static_cast<int>(rings.in_flight));
  const auto count = static_cast<std::size_t>(rings.channels);
  std::vector<Channel> channels;
  for (std::size_t c = 0; c < count; ++c)
    channels.emplace_back(ctx, x.part(c, count), op, static_cast<int>(c), group, rings.slice_bytes);

  std::vector<Transfer> batch;
  for (int turn = 0; turn < Channel::turns(P, group); ++turn) {
    batch.clear();
    for (Channel& channel : channels) channel.join(batch, turn);
    if (batch.empty()) continue;
    ctx.comm->transfer(batch);
    for (Channel& channel : channels) channel.finish();
  }
}

}  // namespace trigram
