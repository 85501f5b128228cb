#pragma once

#include <functional>

#include "algorithms/execution/exchange.h"

// The training iterations that algorithms are made of: what is computed, what is exchanged, and
// which of the two overlap.

namespace trigram {

/// One iteration of a method that exchanges a tensor per bucket: forward, backward, and `exchange`
/// of the tensor `exchanged(bucket)` on `comm`, as soon as the bucket's gradient is ready or,
/// without overlap, after backward. `apply(bucket)` runs as soon as the exchange of that bucket has
/// ended, so early buckets step while late ones travel.
void exchange_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange,
                   const std::function<Tensor(Bucket&)>& exchanged,
                   const std::function<void(Bucket&)>& apply);

/// One iteration of a method that exchanges gradients: `exchange_step` of every bucket's gradient,
/// after which the optimizer steps.
void gradient_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

/// One iteration of a method that exchanges the optimizer's moment: every bucket's gradient is
/// added to its moment, the moment is exchanged, and the weights take a step along it (see
/// Optimizer).
void moment_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

/// One iteration of a method that exchanges weights: the exchange of a copy starts with the forward
/// pass, the gradient is taken at the old weights, and then the exchanged weights replace the old
/// ones and take the gradient step. `exchanged` is storage for the copy. In buckets (F), each
/// bucket is exchanged as soon as its gradient is complete.
void model_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                const Exchange& exchange);

/// The same in the order of BAGUA's implementation; `exchange` is not yet made hierarchical. All
/// buckets start with the forward pass, one after another. The exchange up to the node leaders, of
/// a copy, overlaps with computation. After backward, when every exchange has ended, the result
/// returns to the weights bucket by bucket, by a copy and, if hierarchical, a broadcast inside the
/// node; then the optimizer steps.
void gossip_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                 const Exchange& exchange);

/// One iteration without communication: `compute_gradients`, then `optimizer_step`.
void local_step(Context ctx, Run& run);

/// The rest of an iteration whose gradients are complete: exchanges them, and steps every bucket.
void step_exchanged(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

// The parts of an iteration, for methods that combine them differently.

/// Forward and backward: all gradients, at the present weights.
void compute_gradients(Context ctx, Run& run);
/// One step of the optimizer on every bucket.
void optimizer_step(Context ctx, Run& run);
/// Exchanges `x`, which has an element for every weight, on `comm` and waits for it: the whole
/// tensor or, where weights are exchanged in buckets (F), one bucket after another.
void exchange_on(Stream& comm, Context ctx, Run& run, const Tensor& x, const Exchange& exchange);

}  // namespace trigram
