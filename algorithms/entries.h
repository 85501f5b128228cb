#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>

#include "algorithms/registry.h"

namespace trigram {

inline constexpr Trigram kSyncFullPrecisionCentralised{
    Trigram::Synchrony::sync, Trigram::Precision::full, Trigram::Centralisation::centralised};
inline constexpr Trigram kSyncLowPrecisionCentralised{
    Trigram::Synchrony::sync, Trigram::Precision::low, Trigram::Centralisation::centralised};
inline constexpr Trigram kSyncFullPrecisionDecentralised{
    Trigram::Synchrony::sync, Trigram::Precision::full, Trigram::Centralisation::decentralised};
inline constexpr Trigram kSyncLowPrecisionDecentralised{
    Trigram::Synchrony::sync, Trigram::Precision::low, Trigram::Centralisation::decentralised};
inline constexpr Trigram kAsyncFullPrecisionCentralised{
    Trigram::Synchrony::async, Trigram::Precision::full, Trigram::Centralisation::centralised};
inline constexpr Trigram kAsyncLowPrecisionCentralised{
    Trigram::Synchrony::async, Trigram::Precision::low, Trigram::Centralisation::centralised};
inline constexpr Trigram kAsyncFullPrecisionDecentralised{
    Trigram::Synchrony::async, Trigram::Precision::full, Trigram::Centralisation::decentralised};
inline constexpr Trigram kAsyncLowPrecisionDecentralised{
    Trigram::Synchrony::async, Trigram::Precision::low, Trigram::Centralisation::decentralised};

// Notation of the comments at the top of the algorithms' files. P is the number of ranks, i and j
// are ranks, x_i are the weights of rank i, and x if all ranks have the same weights. g_i(x) is the
// gradient of rank i's mini-batch at x. U(g) is the change that the optimizer computes from g,
// without the learning rate lr. S is the size of the model or of its gradients in bytes, and C the
// size of a code; S_b and C_b are the sizes for one bucket.

/// The constant properties of an algorithm.
struct AlgorithmCard {
  std::string name, doc;
  Trigram trigram;
  /// The trigram if the option "codec" is not "none".
  std::optional<Trigram> trigram_with_codec = {};
  std::string execution_options;  // which of O, F and H apply, for example "OFH"
  std::string source;
  bool exchanges_moment = false;         // see AlgorithmEntry
  bool exchanges_weights = false;        // F is off by default: the whole model is one message
  bool waits_across_steps = false;       // see AlgorithmEntry
  bool needs_values = false;             // see AlgorithmTraits; or if Options::needs_values()
  bool synchronizes = true;              // with H, the option `synchronize` applies
  bool averages_gradients = false;       // see AlgorithmTraits; not if Options::by_need is true
  const char* accumulates_by = nullptr;  // see AlgorithmEntry
  bool own_states = false;               // see AlgorithmEntry; true for all that exchange weights
  bool own_models = false;  // see AlgorithmEntry; true for all asynchronous and decentralised
};

/// The functions of an algorithm that an entry may replace; each has a default.
template <class Options>
struct AlgorithmHooks {
  /// Default: `default_schedule`.
  std::function<ExchangeSchedule(const Options&, const Layout&)> schedule = {};
  /// Throws ConfigError for options that cannot run on a layout. Default: accepts all options.
  std::function<void(const Options&, const Layout&, const std::string& pointer)> check = {};
  /// The ranks that compute gradients. Default: all ranks.
  std::function<Workers(const Options&, const Layout&)> workers = {};
  /// The ranks without whose workers the others carry on. Default: none.
  std::function<Workers(const Options&, const Layout&)> dispensable = {};
};

/// Fields for those of the options O, F and H that apply to the algorithm. The other options are
/// refused with an explanation.
FieldTable<Execution> execution_fields(const AlgorithmCard& card);
/// `execution` with every option that does not apply to the algorithm at its neutral value.
Execution applicable(Execution execution, const AlgorithmCard& card);
/// All ranks of a layout.
Workers all_ranks(const Layout& layout);

/// The schedule of an algorithm that exchanges in every step or, if Options has a member
/// `sync_every`, once in that many steps. The cycle of a synchronous algorithm has one exchange. If
/// Options has a member `warmup_steps`, the first cycle begins at the end of the warm-up.
template <class Options>
ExchangeSchedule default_schedule(const Trigram& trigram, const Options& options) {
  ExchangeSchedule schedule;
  if constexpr (requires { options.sync_every; }) schedule.interval_steps = options.sync_every;
  if constexpr (requires { options.warmup_steps; })
    schedule.cycle->first_step = options.warmup_steps;
  if (trigram.synchrony == Trigram::Synchrony::sync)
    schedule.cycle->steps = schedule.interval_steps;
  else schedule.cycle.reset();
  return schedule;
}

template <class Options>
AlgorithmTraits traits_of(const AlgorithmCard& card, const Options& options) {
  AlgorithmTraits traits{.trigram = card.trigram,
                         .execution = applicable(options.execution, card),
                         .allreduce = {},
                         .warmup_steps = {},
                         .fragments = {},
                         .averages_gradients = card.averages_gradients,
                         .needs_values = card.needs_values};
  if constexpr (requires { options.idles(); }) traits.idles = options.idles();
  if constexpr (requires { options.needs_values(); }) traits.needs_values |= options.needs_values();
  if constexpr (requires { options.quorum.workers; })
    traits.closes_early = options.quorum.workers > 0;
  if constexpr (requires { options.by_need; }) traits.averages_gradients &= !options.by_need;
  if constexpr (requires { options.codec.has_value(); })
    if (options.codec && card.trigram_with_codec) traits.trigram = *card.trigram_with_codec;
  if constexpr (requires { options.allreduce.algorithm; })
    traits.allreduce = options.allreduce.algorithm;
  if constexpr (requires { options.warmup_steps; }) traits.warmup_steps = options.warmup_steps;
  if constexpr (requires { options.layers.fragments; }) traits.fragments = options.layers.fragments;
  return traits;
}

/// The registry entry of the algorithm whose training loop is `train`. Options holds an `Execution
/// execution` and the members that `fields` describes.
template <class Options>
AlgorithmEntry algorithm_entry(
    const AlgorithmCard& card,
    std::type_identity_t<std::function<void(Context, Run&, const Options&)>> train,
    FieldTable<Options> fields, std::type_identity_t<AlgorithmHooks<Options>> hooks = {}) {
  fields.include(&Options::execution, execution_fields(card));
  const auto parse = [fields](const Json& resolved, const std::string& pointer) {
    return fields.parse(component_options(resolved), pointer);
  };
  AlgorithmEntry entry;
  static_cast<Component<Algorithm>&>(entry) = component<Algorithm>(
      card.name, card.doc, fields, [train, hooks, card](const Options& options) {
        return std::make_unique<Algorithm>(
            Algorithm{[train, options](Context ctx, Run& run) { train(ctx, run, options); },
                      [hooks, card, options](const Layout& layout) {
                        return hooks.schedule ? hooks.schedule(options, layout)
                                              : default_schedule(card.trigram, options);
                      }});
      });
  entry.trigram = card.trigram;
  entry.trigram_with_codec = card.trigram_with_codec;
  entry.execution_options = card.execution_options;
  entry.source = card.source;
  entry.exchanges_moment = card.exchanges_moment;
  entry.waits_across_steps = card.waits_across_steps;
  entry.accumulates_by = card.accumulates_by;
  entry.own_models = card.own_models || card.trigram.synchrony == Trigram::Synchrony::async ||
                     card.trigram.centralisation == Trigram::Centralisation::decentralised;
  entry.own_states = card.own_states || entry.own_models || card.exchanges_weights;
  entry.traits = [parse, card](const Json& resolved) {
    return traits_of(card, parse(resolved, ""));
  };
  entry.check = [parse, check = hooks.check](const Json& resolved, const Layout& layout,
                                             const std::string& pointer) {
    if (check) check(parse(resolved, pointer), layout, pointer);
  };
  entry.workers = [parse, workers = hooks.workers](const Json& resolved, const Layout& layout) {
    return workers ? workers(parse(resolved, ""), layout) : all_ranks(layout);
  };
  entry.dispensable = [parse, dispensable = hooks.dispensable](const Json& resolved,
                                                               const Layout& layout) {
    return dispensable ? dispensable(parse(resolved, ""), layout) : Workers{};
  };
  return entry;
}

}  // namespace trigram
