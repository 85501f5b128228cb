#pragma once

#include <functional>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"

// What a worker and its agent share when collectives do not wait for the worker: what is to be
// contributed next, and the latest result.

namespace trigram {

/// Gradients, which add up until they are taken, and so do their sums: none is lost, and none is
/// sent or applied twice (eager-SGD, arXiv 1908.04207).
class LateGradients {
 public:
  LateGradients(Context ctx, Run& run);

  /// Worker: `gradient` of iteration `step` joins those that wait.
  void add(Context ctx, const Tensor& gradient, long step);
  /// Agent: takes what waits and sums it over all ranks, in iteration `step` of those that are in
  /// time. Records how many iterations late each gradient is.
  void sum(Context ctx, long step, const AllreduceSpec& algorithm);
  /// Worker: gradient = 1/P of all sums since the last call; 0 when there was none.
  void take_mean(Context ctx, const Tensor& gradient);

 private:
  Steps& steps_;
  std::unique_ptr<Mutex> guard_;
  Tensor waiting_, working_, received_;
  long newest_ = -1, taken_ = -1;  // iterations whose gradients were added, and taken
};

/// Models, of which the latest counts (WAGMA-SGD, arXiv 2005.00124).
class LateModels {
 public:
  /// At first, the model of iteration -1 is `weights`.
  LateModels(Context ctx, const Tensor& weights);

  /// Worker: `weights` of iteration `step` replace what was to be contributed.
  void contribute(Context ctx, const Tensor& weights, long step);
  /// Agent: lets `add_up` replace a model by the sum of those of the ranks of ctx.comm.
  void sum(Context ctx, const std::function<void(const Tensor&)>& add_up);
  /// Agent, while the worker waits for it: lets `average` replace the model itself.
  void average(const std::function<void(const Tensor&)>& average);
  /// Worker, in iteration `step`: weights = sum / S if the latest sum holds its model of this
  /// iteration, (sum + weights) / (S+1) if it holds an older one. Returns how much older.
  long merge(Context ctx, const Tensor& weights, int S, long step);
  /// Worker: weights = the model, as `average` left it.
  void take(Context ctx, const Tensor& weights);

 private:
  std::unique_ptr<Mutex> guard_;
  Tensor model_, working_, sum_;
  long contributed_ = -1, inside_ = -1;  // iterations of the model, and of that in the sum
};

}  // namespace trigram
