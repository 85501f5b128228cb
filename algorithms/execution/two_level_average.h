#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/execution/exchange.h"

namespace trigram {

/// The options of a coded average in two levels.
struct TwoLevels {
  CodecSpec codec{"int4"}, inter_codec{"int4"}, gather_codec{"minmax_uint8"};
  std::optional<double> error_decay = {};
  std::int64_t error_reset = 1024;
};

/// Averages over all workers by coded all-to-alls, first inside every node and then between the
/// workers with the same number in all nodes, as qgZ of ZeRO++ (arXiv 2306.10209). Worker w of node
/// n of N averages part n of N of part w of the vector; the codes of these means then go to all
/// workers, between nodes first. All workers end with the same values.
///
/// With `error_decay`, the codes of both levels are compensated: h = x + e is encoded, and
/// e = error_decay e + (1 - error_decay) (h - decoded), rounded to 8 bits, as LoCo (arXiv
/// 2407.04480). Every `error_reset` steps e begins again at 0. `state` keeps e.
Exchange two_level_average(const TwoLevels& options, std::uint64_t seed,
                           const TrainingState& state = {});

}  // namespace trigram
