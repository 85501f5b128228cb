#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// The number of workers per node if ctx.comm has all ranks of the layout; otherwise 1.
int workers_per_node(Context ctx) {
  const auto& nodes = ctx.layout->nodes();
  return ctx.size() == ctx.layout->ranks() ? ctx.size() / static_cast<int>(nodes.size()) : 1;
}

/// One ring over one part of a vector. There are 2(P-1) stages. In stage k the rank at position p
/// of the ring sends chunk p-1-k to position p+1. The receiver adds it to its own chunk in the
/// first P-1 stages, and overwrites its own chunk in the other stages.
class Channel {
 public:
  Channel(Context ctx, const Tensor& part, Reduce op, int index, std::size_t slice)
      : ctx_(ctx),
        x_(part),
        op_(op),
        slice_bytes_(slice),
        workers_(workers_per_node(ctx)),
        shift_(index % workers_),
        scratch_(ctx, longest_part(part, static_cast<std::size_t>(ctx.size()))) {
    const int rank = ctx.rank();
    position_ = rank - rank % workers_ + (rank % workers_ - shift_ + workers_) % workers_;
  }

  /// Adds this rank's sends and receives of a stage to `batch`.
  void add_transfers(std::vector<Transfer>& batch, int stage) {
    received_chunk_ = chunk(position_ - 2 - stage);
    reduces_ = stage < ctx_.size() - 1;
    receive_buffer_ = reduces_ ? scratch_.like(received_chunk_) : received_chunk_;
    add(batch, Transfer::recv, receive_buffer_, rank_at(position_ - 1));
    add(batch, Transfer::send, chunk(position_ - 1 - stage), rank_at(position_ + 1));
  }
  /// Adds the chunk that arrived in the stage to the rank's own chunk, in the stages that reduce.
  void finish(int stage) {
    if (!reduces_) return;
    accumulate(ctx_, op_, receive_buffer_, received_chunk_);
    const bool complete = stage == ctx_.size() - 2;
    if (complete) finish_reduction(ctx_, op_, received_chunk_);
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
  Scratch scratch_;
  // The current stage: the chunk that is received, its receive buffer, and whether the stage
  // reduces.
  Tensor received_chunk_, receive_buffer_;
  bool reduces_ = false;
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
    for (Channel& channel : channels) channel.add_transfers(batch, stage);
    ctx.comm->transfer(batch);
    for (Channel& channel : channels) channel.finish(stage);
  }
}

}  // namespace trigram
