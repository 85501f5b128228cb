#pragma once

#include <functional>

#include "core/algorithm.h"

// What all algorithms share: when a tensor is exchanged (overlap), and between whom (hierarchy).

namespace trigram {

/// Which of the tensors that a run exchanges: the bucket's index (0 for a whole model) and the
/// step.
struct Slot {
  int bucket = 0;
  long step = 0;
};

/// Replaces a tensor by what the ranks of ctx.comm make of it together. Runs on a communication
/// stream; copied into its tasks, so it may outlive the caller's frame, and what it refers to must.
using Exchange = std::function<void(Context, const Tensor&, Slot)>;

/// The key of the codecs that a rank uses for one exchange.
CodecKey codec_key(const Context& ctx, std::uint64_t seed, Slot slot);

/// The mean of all workers of a node, at its leader: `node` is the context of these. As a chain of
/// segments of so many bytes where x is longer (0: never), else by a binomial tree.
void reduce_in_node(Context node, const Tensor& x, std::size_t segment_bytes);
/// The leader's x, at all workers of its node, in the same way.
void broadcast_in_node(Context node, const Tensor& x, std::size_t segment_bytes);
/// The same of several tensors; as one chain of all their segments, or a tree after the other.
void reduce_in_node(Context node, std::span<const Tensor> xs, std::size_t segment_bytes);
void broadcast_in_node(Context node, std::span<const Tensor> xs, std::size_t segment_bytes);

/// Averages inside the node, runs `exchange` between the node leaders, broadcasts inside the node.
Exchange hierarchical(Exchange exchange, std::size_t segment_bytes = 0);
/// The first two of these: the leader has the result, the x of other workers holds anything.
Exchange among_leaders(Exchange exchange, std::size_t segment_bytes);
/// The third.
Exchange from_leader(std::size_t segment_bytes);

/// The host waits for its stream before it launches anything else. Simulated time pays for the way
/// back to the host, which nothing hides then (Cost::Kind::synchronization).
void wait_on_host(Context ctx);
/// `exchange`, after which the host waits.
Exchange synchronized(Exchange exchange);

/// `exchange`, made hierarchical, and synchronised, when the run asks for it.
Exchange across(const Execution& execution, Exchange exchange);

/// Those between whom `across` has a run exchange: all ranks, or the nodes, each by its leader.
struct Exchanging {
  int size;          // how many they are
  const char* whom;  // "workers" or "nodes (it is hierarchical)"
};
Exchanging exchanging(const Execution& execution, const Layout& layout);

/// One iteration of a method that exchanges something of every bucket: forward, backward;
/// `exchange` of the tensor `exchanged(bucket)` on `comm` as soon as the bucket's gradient is
/// ready, or only after backward; `apply(bucket)` as soon as it is back: early buckets step while
/// late ones travel.
void exchange_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange,
                   const std::function<Tensor(Bucket&)>& exchanged,
                   const std::function<void(Bucket&)>& apply);

/// One iteration of a method that exchanges gradients: forward, backward, every bucket's gradient
/// exchanged on `comm` (as soon as it is ready, or only after backward), every bucket stepped as
/// soon as it is back.
void gradient_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

/// The same for a method that exchanges the optimizer's moment: every bucket's gradient is added to
/// its moment, the moment is exchanged, the weights take a step along it (see Optimizer).
void moment_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

/// One iteration of a method that exchanges weights: the exchange starts, on a copy, with the
/// forward pass; the gradient is taken at the old weights; then the exchanged weights replace the
/// old ones and take the gradient step. `exchanged` is room for a copy of the weights. In buckets
/// (F), each is exchanged as soon as its gradient is complete.
void model_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                const Exchange& exchange);

/// The same as BAGUA's code has it (`exchange` is not yet made hierarchical): in buckets, all of
/// them start with the forward pass, one after another. What overlaps is the part of the exchange
/// up to the node leaders, on a copy. After backward, when all of it has ended, the result returns
/// to the weights bucket by bucket, by a copy and, if hierarchical, a broadcast inside the node;
/// then the optimizer steps.
void gossip_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                 const Exchange& exchange);

/// One iteration without communication: `compute_gradients`, then `optimizer_step`.
void local_step(Context ctx, Run& run);

/// What is left of such an iteration when all gradients are there: their exchange, and the steps.
void step_exchanged(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

// The parts of an iteration, for methods that put them together in their own way.

/// Forward and backward: all gradients, at the present weights.
void compute_gradients(Context ctx, Run& run);
/// One step of the optimiser on every bucket.
void optimizer_step(Context ctx, Run& run);
/// `exchange` of `x`, which has an element for every weight, on `comm`, waited for: whole, or,
/// where weights are exchanged in buckets (F), one bucket after another.
void exchange_on(Stream& comm, Context ctx, Run& run, const Tensor& x, const Exchange& exchange);

}  // namespace trigram
