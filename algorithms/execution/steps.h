#pragma once

#include <functional>

#include "algorithms/execution/exchange.h"
#include "core/algorithm.h"

// The training iterations of algorithms. Each defines what is computed, what is exchanged, and
// whether the two overlap.
namespace trigram {

/// One iteration of a method that exchanges one tensor per bucket: forward, backward, and
/// `exchange` of the tensor `exchanged(bucket)` on `comm`. The exchange begins as soon as the
/// bucket's gradient is ready or, without overlap, after backward. `apply(bucket)` runs as soon as
/// the bucket's exchange has ended, while later buckets are still in flight, or after all exchanges
/// if the optimizer needs all gradients at once.
void exchange_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange,
                   const std::function<Tensor(Bucket&)>& exchanged,
                   const std::function<void(Bucket&)>& apply);

/// One iteration of a method that exchanges gradients: `exchange_step` of every bucket's gradient,
/// followed by the optimizer's step on the bucket.
void gradient_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

/// The whole run of such a method: `gradient_step` in every step, on a stream `comm` of its own.
/// `exchange` is made hierarchical if the run is (`across`).
void train_on_gradients(Context ctx, Run& run, Exchange exchange);

/// The same run, but without overlap if the optimizer needs all gradients at once. For iterations
/// whose `exchanged` accumulates the bucket's gradient.
Run accumulating(const Run& run);

/// One iteration of a method that exchanges the optimizer's moment: it accumulates every bucket's
/// gradient into the bucket's moment, exchanges the moment, and moves the weights along it (see
/// Optimizer).
void moment_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

/// One iteration of a method that exchanges weights. The exchange of a copy of the weights starts
/// with the forward pass, and the gradient is taken at the old weights. Then the exchanged copy
/// replaces the old weights, and the optimizer steps. `copy` is storage for the copy, with one
/// element per weight. If weights are exchanged in buckets (F), each bucket is exchanged as soon as
/// its gradient is complete.
void model_step(Context ctx, Run& run, Stream& comm, const Tensor& copy, const Exchange& exchange);

/// One iteration of a method that exchanges weights, in the order of BAGUA's implementation.
/// `exchange` must not be hierarchical yet, and `copy` is storage as in `model_step`. The exchanges
/// of copies of all buckets start with the forward pass, one after another. The
/// reduction inside the node and the exchange between leaders overlap with computation. After
/// backward, when every exchange has ended, the result returns to the weights bucket by bucket: by
/// a copy and, if hierarchical, by a broadcast inside the node. Then the optimizer steps.
void gossip_step(Context ctx, Run& run, Stream& comm, const Tensor& copy, const Exchange& exchange);

/// One iteration without communication: `compute_gradients`, then `optimizer_step`.
void local_step(Context ctx, Run& run);

/// The rest of an iteration whose gradients are complete: exchanges them and updates every bucket.
void exchange_and_update(Context ctx, Run& run, Stream& comm, const Exchange& exchange);

// The following functions are parts of an iteration, for methods that combine them differently.

/// Forward and backward: all gradients, at the present weights.
void compute_gradients(Context ctx, Run& run);
/// One step of the optimizer on every bucket.
void optimizer_step(Context ctx, Run& run);
/// Exchanges `x`, which has an element for every weight, on `comm` and waits for it: the whole
/// tensor or, where weights are exchanged in buckets (F), one bucket after another.
void exchange_on(Stream& comm, Context ctx, Run& run, const Tensor& x, const Exchange& exchange);

/// Broadcasts rank 0's copy of the model's buffers (Workload::buffers) to all ranks on `comm`, and
/// waits for it. PyTorch's DistributedDataParallel does this before each forward pass
/// (`broadcast_buffers`). The broadcast is a chain through the ranks in pieces of 512 KiB, like
/// NCCL's broadcast along its ring (src/device/broadcast.h), whose chunks fill one of the 8 slots
/// of a 4 MiB buffer. Does nothing if the model has no buffers.
void broadcast_buffers(Context ctx, Run& run, Stream& comm);

}  // namespace trigram
