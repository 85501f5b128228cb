#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "algorithms/execution/steps.h"

// Methods that exchange weights: the whole model as one message, or fused in buckets (F), in order.

namespace trigram {

/// What of the model is exchanged by itself.
struct Part {
  int index = 0;
  Tensor weights;
  std::span<Bucket> buckets;  // those of `weights`
};

/// The buckets of a run that exchanges weights in buckets, in their order; otherwise the model.
std::vector<Part> parts_of(Run& run);

/// `x`, which has an element for every weight, cut as the weights are into parts.
std::vector<Tensor> cut_like_parts(Run& run, const Tensor& x);

/// Forward and backward at the present weights; `ready(part)` as soon as a part's gradients are
/// complete, and its weights may change. Without overlap, in order after backward.
void compute_by_part(Context ctx, Run& run, const std::function<void(const Part&)>& ready);

/// One step of the optimiser on a part.
void optimizer_step(Context ctx, Run& run, const Part& part);

/// One iteration without communication, after which, if it is `due`, `exchange` replaces the
/// weights on `comm`: part by part, each as soon as it has made its step.
void local_step(Context ctx, Run& run, Stream& comm, const Exchange& exchange, bool due);

/// Begins `exchange` of `x`, of the bucket or part `index`, on `comm`. Exchanges follow one
/// another: whoever waits for one holds up all that come after, and whoever waits for these.
std::shared_ptr<Work> begin_exchange(Stream& comm, Context ctx, Run& run, const Tensor& x,
                                     int index, const Exchange& exchange);

}  // namespace trigram
