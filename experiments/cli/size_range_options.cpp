#include "experiments/cli/size_range_options.h"

#include <fmt/format.h>

#include "core/config/config_error.h"
#include "core/config/option_type.h"

namespace trigram {

std::size_t bytes_in(const std::string& option, const std::string& text) {
  const double bytes = quantity(Dimension::bytes, true).parse(text, option);
  if (bytes < 1) throw ConfigError(option, fmt::format("expected at least 1 B, not {}", text));
  return static_cast<std::size_t>(bytes);
}

void check_sizes(const SizeRange& ladder, int ranks, std::size_t fewest) {
  const std::size_t least = sizeof(float) * static_cast<std::size_t>(ranks);
  if (ladder.max_bytes < least)
    throw ConfigError("--max-bytes", fmt::format("expected at least {} B, one f32 element for each "
                                                 "of {} ranks, not {} B",
                                                 least, ranks, ladder.max_bytes));
  const std::size_t sizes = counts(ladder, static_cast<std::size_t>(ranks)).size();
  if (sizes < fewest)
    throw ConfigError(
        "--max-bytes",
        fmt::format("expected at least {} sizes of whole f32 elements for each of {} ranks; from "
                    "{} B to {} B, by steps of {} x, there is {}",
                    fewest, ranks, ladder.min_bytes, ladder.max_bytes, ladder.factor, sizes));
}

}  // namespace trigram
