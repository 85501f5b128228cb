#pragma once

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <string>
#include <type_traits>

#include "algorithms/registry.h"

namespace trigram {

inline constexpr Trigram kSyncFullCentralised{Trigram::Synchrony::sync, Trigram::Precision::full,
                                              Trigram::Centralisation::centralised};
inline constexpr Trigram kSyncLowCentralised{Trigram::Synchrony::sync, Trigram::Precision::low,
                                             Trigram::Centralisation::centralised};
inline constexpr Trigram kSyncFullDecentralised{Trigram::Synchrony::sync, Trigram::Precision::full,
                                                Trigram::Centralisation::decentralised};
inline constexpr Trigram kSyncLowDecentralised{Trigram::Synchrony::sync, Trigram::Precision::low,
                                               Trigram::Centralisation::decentralised};
inline constexpr Trigram kAsyncFullCentralised{Trigram::Synchrony::async, Trigram::Precision::full,
                                               Trigram::Centralisation::centralised};
inline constexpr Trigram kAsyncLowCentralised{Trigram::Synchrony::async, Trigram::Precision::low,
                                              Trigram::Centralisation::centralised};
inline constexpr Trigram kAsyncFullDecentralised{
    Trigram::Synchrony::async, Trigram::Precision::full, Trigram::Centralisation::decentralised};
inline constexpr Trigram kAsyncLowDecentralised{Trigram::Synchrony::async, Trigram::Precision::low,
                                                Trigram::Centralisation::decentralised};

/// What an algorithm says of itself.
struct AlgorithmCard {
  std::string name, doc;
  Trigram trigram;
  std::optional<Trigram> trigram_with_codec = {};  // where there is an `optional_codec_kind`
  std::string execution_options;                   // those of O, F and H that apply
  std::string source;
  bool exchanges_moment = false;    // so the optimizer must have one
  bool exchanges_weights = false;   // F is off unless asked for: the model is one message
  bool waits_across_steps = false;  // as in AlgorithmEntry
  bool synchronizes = true;         // the host can wait for every exchange, if H applies
};

/// Adds the options of O, F and H that apply, and names the ones that do not.
FieldTable<Execution> execution_fields(const AlgorithmCard& card);
/// `execution` with what does not apply to the algorithm set to its neutral value.
Execution applicable(Execution execution, const AlgorithmCard& card);

/// The entry of algorithm A, whose Options hold an `Execution execution` and the given own fields.
/// `check` throws ConfigError for options that cannot run on a layout; `workers` names the ranks
/// that compute gradients, where those are not all.
template <class A, class Options>
AlgorithmEntry algorithm_entry(
    const AlgorithmCard& card, FieldTable<Options> fields,
    std::type_identity_t<std::function<void(const Options&, const Layout&, const std::string&)>>
        check = {},
    std::type_identity_t<std::function<Workers(const Options&, const Layout&)>> workers = {}) {
  fields.include(&Options::execution, execution_fields(card));
  AlgorithmEntry entry;
  static_cast<Component<Algorithm>&>(entry) =
      component<Algorithm>(card.name, card.doc, fields,
                           [](const Options& options) { return std::make_unique<A>(options); });
  entry.trigram = card.trigram;
  entry.trigram_with_codec = card.trigram_with_codec;
  entry.execution_options = card.execution_options;
  entry.source = card.source;
  entry.exchanges_moment = card.exchanges_moment;
  entry.waits_across_steps = card.waits_across_steps;
  entry.execution = [fields, card](const Json& resolved) {
    return applicable(fields.parse(component_options(resolved), "").execution, card);
  };
  entry.check = [fields, check](const Json& resolved, const Layout& layout,
                                const std::string& pointer) {
    if (check) check(fields.parse(component_options(resolved), pointer), layout, pointer);
  };
  entry.workers = [fields, workers](const Json& resolved, const Layout& layout) {
    if (workers) return workers(fields.parse(component_options(resolved), ""), layout);
    Workers all{std::vector<int>(static_cast<std::size_t>(layout.ranks()))};
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    return all;
  };
  return entry;
}

// One function per algorithm file; the table is in registry.cpp.
AlgorithmEntry gradient_allreduce_entry();
AlgorithmEntry local_sgd_entry();
AlgorithmEntry slowmo_entry();
AlgorithmEntry bytegrad_entry();
AlgorithmEntry qsgd_entry();
AlgorithmEntry onebit_adam_entry();
AlgorithmEntry qadam_entry();
AlgorithmEntry powersgd_entry();
AlgorithmEntry topk_entry();
AlgorithmEntry half_precision_allreduce_entry();
AlgorithmEntry decentralized_entry();
AlgorithmEntry dpsgd_entry();
AlgorithmEntry sgp_entry();
AlgorithmEntry dcd_psgd_entry();
AlgorithmEntry choco_sgd_entry();
AlgorithmEntry async_model_average_entry();
AlgorithmEntry eager_sgd_entry();
AlgorithmEntry wagma_entry();
AlgorithmEntry parameter_server_entry();
AlgorithmEntry async_parameter_server_entry();
AlgorithmEntry adpsgd_entry();
AlgorithmEntry zeroone_adam_entry();
AlgorithmEntry onebit_sgd_entry();
AlgorithmEntry ef_signsgd_entry();
AlgorithmEntry signsgd_majority_entry();
AlgorithmEntry terngrad_entry();
AlgorithmEntry dgc_entry();
AlgorithmEntry gtopk_entry();
AlgorithmEntry oktopk_entry();
AlgorithmEntry dropcompute_entry();
AlgorithmEntry post_local_sgd_entry();
AlgorithmEntry bmuf_entry();
AlgorithmEntry diloco_entry();
AlgorithmEntry gossipgrad_entry();
AlgorithmEntry deepsqueeze_entry();
AlgorithmEntry ecd_psgd_entry();
AlgorithmEntry easgd_entry();
AlgorithmEntry ssp_entry();
AlgorithmEntry dsgd_aau_entry();
AlgorithmEntry moshpit_entry();
AlgorithmEntry osgp_entry();
AlgorithmEntry swarm_sgd_entry();

}  // namespace trigram
