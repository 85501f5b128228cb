#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/config/kinds.h"

namespace trigram {

/// What the best algorithm is best at.
struct Target {
  std::optional<double> accuracy;  // to be reached as early as can be; none: throughput

  /// "throughput" or "accuracy=0.8". Throws ConfigError.
  static Target parse(const std::string& text);
  std::string text() const;
};

/// What a finished run costs in seconds: the less, the better. For throughput that is the time per
/// sample, each worker at its own pace, of its summary; for an accuracy the time of the first
/// evaluation in its folder's metrics that reached it, infinite if none did.
double cost_s(const Target& target, const Json& summary, const std::filesystem::path& folder);

}  // namespace trigram
