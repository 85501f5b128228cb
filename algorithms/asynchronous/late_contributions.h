#pragma once

#include <functional>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"

// State that a worker and its agent share if collectives do not wait for the worker: the worker's
// next contribution, and the latest result.

namespace trigram {

/// Gradients accumulate here until the agent takes them, and sums over all ranks accumulate until
/// the worker takes them. So no gradient is lost, sent twice or applied twice (eager-SGD, arXiv
/// 1908.04207).
class LateGradients {
 public:
  LateGradients(Context ctx, Run& run);

  /// Called by the worker: adds `gradient` of iteration `step` to the waiting gradients.
  void add(Context ctx, const Tensor& gradient, long step);
  /// Called by the agent: takes the waiting gradients and sums them over all ranks. `step` is the
  /// iteration of the ranks that are in time. Records how many iterations late each gradient is.
  void sum(Context ctx, long step, const AllreduceSpec& algorithm);
  /// Called by the worker: sets gradient = 1/P times all sums since the last call; 0 if there were
  /// none.
  void take_mean(Context ctx, const Tensor& gradient);

 private:
  Steps& steps_;
  std::unique_ptr<Mutex> guard_;
  TrainingState state_;  // owns what the references refer to
  Tensor& waiting_;
  Tensor working_, received_;
  long &newest_, &taken_;  // the latest iterations whose gradients were added, and taken
};

/// Models, of which only the latest is contributed (WAGMA-SGD, arXiv 2005.00124).
class LateModels {
 public:
  /// Starts with `weights` as the model of iteration -1, or with the model that `state` keeps.
  LateModels(Context ctx, const Tensor& weights, const TrainingState& state);

  /// Called by the worker: makes `weights` of iteration `step` the next contribution.
  void contribute(Context ctx, const Tensor& weights, long step);
  /// Called by the agent: `add_up` replaces a copy of the model by the sum of the models of the
  /// ranks of ctx.comm.
  void sum(Context ctx, const std::function<void(const Tensor&)>& add_up);
  /// Called by the agent while the worker waits for it: `average` replaces the model itself.
  void average(const std::function<void(const Tensor&)>& average);
  /// Called by the worker in iteration `step`. Sets weights = sum / S if the latest sum includes
  /// the worker's model of this iteration, and weights = (sum + weights) / (S+1) if it includes an
  /// older one. Returns the age of the included model in iterations.
  long merge(Context ctx, const Tensor& weights, int S, long step);
  /// Called by the worker: sets weights = the model, as `average` left it.
  void take(Context ctx, const Tensor& weights);

 private:
  std::unique_ptr<Mutex> guard_;
  TrainingState state_;  // owns what the reference refers to
  Tensor model_, working_, sum_;
  // Iterations of the rank's latest model, and of the rank's model in the latest sum.
  long& model_step_;
  long sum_step_ = -1;
};

}  // namespace trigram
