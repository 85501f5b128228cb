#include "core/optimizers/registry.h"

#include "core/optimizers/adam.h"
#include "core/optimizers/sgd.h"

namespace trigram {
namespace {

OptimizerEntry sgd() {
  return {component<Optimizer, const Context&, Workload&, long>(
              "sgd", "stochastic gradient descent with momentum and weight decay", sgd_fields(),
              [](const SgdOptions& options, const Context& ctx, Workload& workload, long steps) {
                return std::make_unique<Sgd>(options, ctx, workload, steps);
              }),
          [](const Json& resolved) { return resolved.at("momentum") != 0; }, false};
}

OptimizerEntry adam(std::string name, std::string doc, Adam::WeightDecay kind) {
  return {
      component<Optimizer, const Context&, Workload&, long>(
          std::move(name), std::move(doc), adam_fields(),
          [kind](const AdamOptions& options, const Context& ctx, Workload& workload, long steps) {
            return std::make_unique<Adam>(options, kind, ctx, workload, steps);
          }),
      [](const Json&) { return true; }, true};
}

}  // namespace

const std::vector<OptimizerEntry>& optimizers() {
  static const std::vector<OptimizerEntry> entries = {
      sgd(),
      adam("adam", "Adam (arXiv 1412.6980)", Adam::WeightDecay::in_gradient),
      adam("adamw", "Adam with decoupled weight decay (arXiv 1711.05101)",
           Adam::WeightDecay::decoupled),
  };
  return entries;
}

}  // namespace trigram
