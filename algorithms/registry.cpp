#include "algorithms/registry.h"

#include "algorithms/entries.h"

namespace trigram {

std::string to_string(const Trigram& t) {
  return fmt::format(
      "{}, {}, {}", t.synchrony == Trigram::Synchrony::sync ? "sync" : "async",
      t.precision == Trigram::Precision::full ? "full" : "low",
      t.centralisation == Trigram::Centralisation::centralised ? "centralised" : "decentralised");
}

const std::vector<AlgorithmEntry>& algorithms() {
  static const std::vector<AlgorithmEntry> entries = {
      gradient_allreduce_entry(),
      parameter_server_entry(),
      local_sgd_entry(),
      slowmo_entry(),
      bytegrad_entry(),
      qsgd_entry(),
      onebit_adam_entry(),
      qadam_entry(),
      powersgd_entry(),
      topk_entry(),
      half_precision_allreduce_entry(),
      decentralized_entry(),
      dpsgd_entry(),
      sgp_entry(),
      dcd_psgd_entry(),
      choco_sgd_entry(),
      async_model_average_entry(),
      eager_sgd_entry(),
      wagma_entry(),
      async_parameter_server_entry(),
      adpsgd_entry(),
  };
  return entries;
}

}  // namespace trigram
