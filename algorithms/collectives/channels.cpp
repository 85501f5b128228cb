#include "algorithms/collectives/channels.h"

#include <vector>

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// The number of consecutive ranks of ctx.comm that are workers of one node; 1 if the number is
/// unknown.
int workers_in_a_row(Context ctx) {
  const auto& nodes = ctx.layout->nodes();
  return ctx.size() == ctx.layout->ranks() ? ctx.size() / static_cast<int>(nodes.size()) : 1;
}

/// One ring over one part of a vector. In stage k, of 2(P-1), the rank at position p sends chunk
/// p-1-k to the next position. The receiver adds it to its own chunk in the first P-1 stages and
/// overwrites its own chunk in the other stages.
class Channel {
 public:
  Channel(Context ctx, const Tensor& part, Reduce op, int index, std::size_t slice)
      : ctx_(ctx),
        x_(part),
        op_(op),
        slice_bytes_(slice),
        workers_(workers_in_a_row(ctx)),
        shift_(index % workers_),
        room_(ctx, longest_part(part, static_cast<std::size_t>(ctx.size()))) {
    const int rank = ctx.rank();
    position_ = rank - rank % workers_ + (rank % workers_ - shift_ + workers_) % workers_;
  }

  /// Adds this rank's sends and receives of a stage to `batch`.
  void join(std::vector<Transfer>& batch, int stage) {
    into_ = chunk(position_ - 2 - stage);
    adds_ = stage < ctx_.size() - 1;
    arrived_ = adds_ ? room_.like(into_) : into_;
    add(batch, Transfer::recv, arrived_, rank_at(position_ - 1));
    add(batch, Transfer::send, chunk(position_ - 1 - stage), rank_at(position_ + 1));
  }
  /// Adds the chunk that arrived in the stage to the rank's own chunk, in the stages that reduce.
  void finish(int stage) {
    if (!adds_) return;
    accumulate(ctx_, op_, arrived_, into_);
    const bool complete = stage == ctx_.size() - 2;
    if (complete) finish_reduction(ctx_, op_, into_);
  }

 private:
  int rank_at(int position) const {
    const int p = (position + ctx_.size()) % ctx_.size();
    return p - p % workers_ + (p % workers_ + shift_) % workers_;
  }
  Tensor chunk(int index) const {
    const int P = ctx_.size();
    return x_.part(static_cast<std::size_t>((index % P + P) % P), static_cast<std::size_t>(P));
  }
  /// Adds the slices of a chunk to `batch`.
  void add(std::vector<Transfer>& batch, Transfer::Kind kind, const Tensor& chunk, int peer) const {
    const std::size_t slices = parts_within(chunk, slice_bytes_);
    for (std::size_t i = 0; i < slices; ++i) batch.push_back({kind, chunk.part(i, slices), peer});
  }

  Context ctx_;
  Tensor x_;
  Reduce op_;
  std::size_t slice_bytes_;
  int workers_, shift_, position_ = 0;
  Scratch room_;
  // The chunk of the current stage, and its receive buffer.
  Tensor into_, arrived_;
  bool adds_ = false;
};

}  // namespace

void channelled_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Rings& rings) {
  const int P = ctx.size();
  if (P == 1) return;
  const auto count = static_cast<std::size_t>(rings.channels);
  std::vector<Channel> channels;
  for (std::size_t c = 0; c < count; ++c)
    channels.emplace_back(ctx, x.part(c, count), op, static_cast<int>(c), rings.slice_bytes);

  std::vector<Transfer> batch;
  for (int stage = 0; stage < 2 * (P - 1); ++stage) {
    batch.clear();
    for (Channel& channel : channels) channel.join(batch, stage);
    ctx.comm->transfer(batch);
    for (Channel& channel : channels) channel.finish(stage);
  }
}

}  // namespace trigram
