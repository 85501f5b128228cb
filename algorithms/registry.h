#pragma once

#include <optional>
#include <string>
#include <vector>

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

struct AlgorithmEntry : Component<Algorithm> {
  Trigram trigram;
  std::optional<Trigram> trigram_with_codec;  // where an option "codec" may be "none", and is not
  std::string execution_options;              // which of O, F and H apply, e.g. "OFH"
  std::string source;                         // paper
  /// Of the optimizer, which must have one; after an option "warmup_steps", where there is one, in
  /// which its variance comes to be.
  bool exchanges_moment = false;
  /// The end of a rank's step may wait for that of another's later step, so ranks that come
  /// together at the end of the same step may wait for ever.
  bool waits_across_steps = false;
  /// The trigram with these options.
  const Trigram& trigram_of(const Json& resolved) const;
  /// The execution options among resolved options; those that do not apply have their neutral
  /// value.
  std::function<Execution(const Json& resolved)> execution;
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
