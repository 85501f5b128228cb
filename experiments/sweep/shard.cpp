#include "experiments/sweep/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "core/config/config_error.h"

namespace trigram {

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  bool ok = number.ec == std::errc{} && number.ptr != end && *number.ptr == '/';
  if (ok) {
    const auto count = std::from_chars(number.ptr + 1, end, shard.count);
    ok = count.ec == std::errc{} && count.ptr == end && shard.number >= 1 &&
         shard.number <= shard.count;
  }
  if (!ok)
    throw ConfigError("--shard",
                      fmt::format("expected I/N with 1 <= I <= N, such as 1/8, not \"{}\"", text));
  return shard;
}

void keep_shard(Plan& plan, const Shard& shard) {
  std::vector<PlannedRun> kept;
  for (std::size_t i = shard.number - 1; i < plan.runs.size(); i += shard.count)
    kept.push_back(std::move(plan.runs[i]));
  plan.runs = std::move(kept);
}

}  // namespace trigram
