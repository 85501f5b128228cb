#pragma once

#include <functional>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"

// State shared by a worker and its agent if collectives do not wait for the worker: the next
// contribution, and the latest result.

namespace trigram {

/// Gradients accumulate until the agent takes them, and so do their sums: no gradient is lost, sent
/// twice or applied twice (eager-SGD, arXiv 1908.04207).
class LateGradients {
 public:
  LateGradients(Context ctx, Run& run);

  /// Worker: adds `gradient` of iteration `step` to the waiting gradients.
  void add(Context ctx, const Tensor& gradient, long step);
  /// Agent: takes the waiting gradients and sums them over all ranks. `step` is the iteration of
  /// the ranks that are in time. Records how many iterations late each gradient is.
  void sum(Context ctx, long step, const AllreduceSpec& algorithm);
  /// Worker: gradient = 1/P of all sums since the last call; 0 if there were none.
  void take_mean(Context ctx, const Tensor& gradient);

 private:
  Steps& steps_;
  std::unique_ptr<Mutex> guard_;
  Tensor waiting_, working_, received_;
  long newest_ = -1, taken_ = -1;  // iterations whose gradients were added, and taken
};

/// Models, of which only the latest counts (WAGMA-SGD, arXiv 2005.00124).
class LateModels {
 public:
  /// Starts with `weights` as the model of iteration -1.
  LateModels(Context ctx, const Tensor& weights);

  /// Worker: `weights` of iteration `step` become the next contribution.
  void contribute(Context ctx, const Tensor& weights, long step);
  /// Agent: `add_up` replaces a copy of the model by the sum of the models of the ranks of
  /// ctx.comm.
  void sum(Context ctx, const std::function<void(const Tensor&)>& add_up);
  /// Agent, while the worker waits for it: `average` replaces the model itself.
  void average(const std::function<void(const Tensor&)>& average);
  /// Worker, in iteration `step`: weights = sum / S if the latest sum includes its model of this
  /// iteration, (sum + weights) / (S+1) if it includes an older one. Returns the age of the
  /// included model in iterations.
  long merge(Context ctx, const Tensor& weights, int S, long step);
  /// Worker: weights = the model, as `average` left it.
  void take(Context ctx, const Tensor& weights);

 private:
  std::unique_ptr<Mutex> guard_;
  Tensor model_, working_, sum_;
  long contributed_ = -1, inside_ = -1;  // iterations of the model, and of that in the sum
};

}  // namespace trigram
