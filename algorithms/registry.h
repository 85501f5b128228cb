#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"
#include "core/config/component.h"
#include "core/context.h"

namespace trigram {

/// The three properties that classify an algorithm: which relaxations it makes.
struct Trigram {
  enum class Synchrony { sync, async } synchrony;
  enum class Precision { full, low } precision;
  enum class Centralisation { centralised, decentralised } centralisation;
};
std::string to_string(const Trigram& trigram);  // for example "sync, low, centralised"

/// Properties of an algorithm with given options, for the rest of the program.
struct AlgorithmTraits {
  Trigram trigram;
  Execution execution;  // options that do not apply to the algorithm have neutral values
  std::optional<AllreduceAlgorithm> allreduce;  // value of the option "allreduce", if any
  std::optional<long> warmup_steps;             // value of the option "warmup_steps", if any
  std::optional<long> fragments;                // value of the option "fragments", if any
  /// True if the optimizer gets the mean gradient of all workers, in full precision, in every step.
  bool averages_gradients = false;
  /// True if workers may leave out the computation of a step.
  bool idles = false;
  /// True if a round of averages can close without workers that come late.
  bool closes_early = false;
  /// True if control flow depends on tensor values; such an algorithm refuses phantom tensors.
  bool needs_values = false;
};

struct AlgorithmEntry : Component<Algorithm> {
  Trigram trigram;
  std::optional<Trigram>
      trigram_with_codec;         // the trigram if an option "codec" is given and not "none"
  std::string execution_options;  // which of O, F and H apply, for example "OFH"
  std::string source;             // the paper
  /// True if ranks exchange the optimizer's moment; the optimizer must then have one. If the
  /// algorithm has a warm-up, the optimizer's variance is estimated during it.
  bool exchanges_moment = false;
  /// True if a rank may be unable to end step t until another rank has ended a step after t.
  /// A barrier of all ranks at the end of a step may then deadlock.
  bool waits_across_steps = false;
  /// True if workers may have different models after every step, also after those at whose end they
  /// exchange. If it is false, all models are equal after every ExchangeSchedule::interval_steps
  /// steps.
  bool own_models = false;
  /// True if the optimizers of workers may have different states, because each steps along a
  /// gradient of its own.
  bool own_states = false;
  /// The option that says how many mini-batches a worker takes in a step; null if it takes one.
  const char* accumulates_by = nullptr;
  std::function<AlgorithmTraits(const Json& resolved)> traits;
  /// Throws ConfigError if the algorithm cannot run with these options on this layout.
  std::function<void(const Json& resolved, const Layout& layout, const std::string& pointer)> check;
  /// The ranks that compute gradients with these options. The options have passed `check`.
  std::function<Workers(const Json& resolved, const Layout& layout)> workers;
  /// The ranks without whose workers the others carry on (Run::membership), ascending. The options
  /// have passed `check`.
  std::function<Workers(const Json& resolved, const Layout& layout)> dispensable;
};

/// Every algorithm, in the order in which they are listed to users.
const std::vector<AlgorithmEntry>& algorithms();

/// An algorithm that a run uses: its entry, its resolved options, and its place in the
/// configuration.
struct UsedAlgorithm {
  const AlgorithmEntry* entry;
  Json resolved;
  std::string pointer;
};
/// The algorithms that a run uses one after another, for a resolved algorithm at `pointer`: those
/// of the stages of `stages`, or the algorithm itself.
std::vector<UsedAlgorithm> used_algorithms(const Json& resolved, const std::string& pointer);

/// Adds an algorithm that is not part of this source tree. Call it at the start of the program,
/// before anything reads the table. Throws if the name is taken.
void add_algorithm(AlgorithmEntry entry);
/// True if `add_algorithm` has been called.
bool has_added_algorithms();

}  // namespace trigram
