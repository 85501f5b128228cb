#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "algorithms/execution/steps.h"

// For methods that exchange weights, either the whole model as one message or, with fusion (F),
// bucket by bucket in order.

namespace trigram {

/// A part of the model that is exchanged as one message.
struct Part {
  int index = 0;
  Tensor weights;
  std::span<Bucket> buckets;  // the buckets of `weights`
};

/// The buckets, in order, if the run exchanges weights in buckets; otherwise the whole model.
std::vector<Part> parts_of(Run& run);

/// `x`, which has one element per weight, divided like the weights are into parts.
std::vector<Tensor> cut_like_parts(Run& run, const Tensor& x);

/// `x`, which has one element per weight, divided like the weights are into buckets.
std::vector<Tensor> cut_like_buckets(Run& run, const Tensor& x);

/// The backward pass. Calls `ready(bucket)`, which calls the optimizer, for every bucket, in order:
/// as soon as its gradient is complete or, without overlap or if the optimizer needs all gradients
/// at once, after the pass.
void backward_by_bucket(Context ctx, Run& run, const std::function<void(Bucket&)>& ready);

/// Forward and backward at the present weights. Calls `ready(part)` as soon as a part's gradients
/// are complete; `ready` may change the part's weights. Without overlap, calls it for all parts in
/// order after backward. `steps` is true if `ready` calls the optimizer, which may need all
/// gradients at once; there is no overlap then.
void compute_by_part(Context ctx, Run& run, const std::function<void(const Part&)>& ready,
                     bool steps = true);

/// One step of the optimizer on a part.
void optimizer_step(Context ctx, Run& run, const Part& part);

/// One iteration without communication. If `due`, `exchange` then replaces the weights on `comm`,
/// part by part, each part as soon as the optimizer has updated it.
void local_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange, bool due);

/// Begins `exchange` of `x`, which belongs to bucket or part `index`, on `comm`. The exchanges on a
/// stream run one after another, so an exchange that waits delays all later ones.
std::shared_ptr<Work> begin_exchange(Stream& comm, Context ctx, Run& run, const Tensor& x,
                                     int index, const Exchange& exchange);

}  // namespace trigram
