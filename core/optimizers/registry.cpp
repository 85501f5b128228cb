#include "core/optimizers/registry.h"

namespace trigram {

const std::vector<OptimizerEntry>& optimizers() {
  static const std::vector<OptimizerEntry> entries = {
      sgd_entry(),  adam_entry(), adamw_entry(), rmsprop_entry(), adagrad_entry(),
      lion_entry(), lamb_entry(), lars_entry(),  muon_entry()};
  return entries;
}

}  // namespace trigram
