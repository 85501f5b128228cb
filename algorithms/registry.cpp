#include "algorithms/registry.h"

#include "algorithms/entries.h"
#include "core/check.h"

namespace trigram {

std::string to_string(const Trigram& t) {
  return fmt::format(
      "{}, {}, {}", t.synchrony == Trigram::Synchrony::sync ? "sync" : "async",
      t.precision == Trigram::Precision::full ? "full" : "low",
      t.centralisation == Trigram::Centralisation::centralised ? "centralised" : "decentralised");
}

const Trigram& AlgorithmEntry::trigram_of(const Json& resolved) const {
  return trigram_with_codec && resolved.at("codec") != "none" ? *trigram_with_codec : trigram;
}

namespace {

std::vector<AlgorithmEntry> own_algorithms() {
  return {
      gradient_allreduce_entry(),
      parameter_server_entry(),
      dropcompute_entry(),
      local_sgd_entry(),
      post_local_sgd_entry(),
      slowmo_entry(),
      bmuf_entry(),
      diloco_entry(),
      easgd_entry(),
      bytegrad_entry(),
      qsgd_entry(),
      terngrad_entry(),
      onebit_sgd_entry(),
      ef_signsgd_entry(),
      signsgd_majority_entry(),
      onebit_adam_entry(),
      zeroone_adam_entry(),
      qadam_entry(),
      powersgd_entry(),
      topk_entry(),
      gtopk_entry(),
      oktopk_entry(),
      dgc_entry(),
      half_precision_allreduce_entry(),
      decentralized_entry(),
      dpsgd_entry(),
      sgp_entry(),
      osgp_entry(),
      gossipgrad_entry(),
      moshpit_entry(),
      dcd_psgd_entry(),
      ecd_psgd_entry(),
      choco_sgd_entry(),
      deepsqueeze_entry(),
      async_model_average_entry(),
      eager_sgd_entry(),
      wagma_entry(),
      async_parameter_server_entry(),
      ssp_entry(),
      adpsgd_entry(),
      dsgd_aau_entry(),
      swarm_sgd_entry(),
  };
}

struct Table {
  std::vector<AlgorithmEntry> entries = own_algorithms();
  bool has_added = false;
};

Table& table() {
  static Table only;
  return only;
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithms() { return table().entries; }

void add_algorithm(AlgorithmEntry entry) {
  for (const AlgorithmEntry& known : table().entries)
    TRIGRAM_CHECK(known.name != entry.name, "two algorithms are called {}", entry.name);
  table().entries.push_back(std::move(entry));
  table().has_added = true;
}

bool has_added_algorithms() { return table().has_added; }

}  // namespace trigram
