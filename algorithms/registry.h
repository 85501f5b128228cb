#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "core/algorithm.h"
#include "core/config/component.h"
#include "core/workers.h"

namespace trigram {

/// The three lines: which relaxations an algorithm makes.
struct Trigram {
  enum class Synchrony { sync, async } synchrony;
  enum class Precision { full, low } precision;
  enum class Centralisation { centralised, decentralised } centralisation;
};
std::string to_string(const Trigram& trigram);  // "sync, low, centralised"

/// What the rest of the program needs to know of an algorithm with its options.
struct AlgorithmTraits {
  Trigram trigram;
  Execution execution;  // options that do not apply to the algorithm have their neutral value
  std::optional<AllreduceAlgorithm> allreduce;  // of an option "allreduce"
  std::optional<long> warmup_steps;             // of an option "warmup_steps"
};

struct AlgorithmEntry : Component<Algorithm> {
  Trigram trigram;
  std::optional<Trigram> trigram_with_codec;  // where an option "codec" may be "none", and is not
  std::string execution_options;              // which of O, F and H apply, e.g. "OFH"
  std::string source;                         // paper
  /// True if the moment of the optimizer is exchanged, so that the optimizer must have one, after
  /// the warm-up, if any, in which the variance of the optimizer forms.
  bool exchanges_moment = false;
  /// True if the end of a rank's step may wait for the end of another rank's later step, so that
  /// ranks that meet at the end of one step may deadlock.
  bool waits_across_steps = false;
  /// True if control flow depends on tensor values; such an algorithm refuses phantoms.
  bool needs_values = false;
  std::function<AlgorithmTraits(const Json& resolved)> traits;
  /// Throws ConfigError when the algorithm cannot run with these options on this layout.
  std::function<void(const Json& resolved, const Layout& layout, const std::string& pointer)> check;
  /// The ranks that compute gradients with these options, which have passed the check.
  std::function<Workers(const Json& resolved, const Layout& layout)> workers;
};

/// Every algorithm, in the order in which they are listed to users.
const std::vector<AlgorithmEntry>& algorithms();

/// Adds an algorithm that lives outside this source tree. For the start of a program, before
/// anything has read the table; throws when the name is taken.
void add_algorithm(AlgorithmEntry entry);
/// Whether this program has such algorithms.
bool has_added_algorithms();

}  // namespace trigram
