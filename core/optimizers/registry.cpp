#include "core/optimizers/registry.h"

namespace trigram {

const std::vector<OptimizerEntry>& optimizers() {
  static const std::vector<OptimizerEntry> entries = {sgd_entry(), adam_entry(), adamw_entry()};
  return entries;
}

}  // namespace trigram
