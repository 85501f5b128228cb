#include "netmodels/balanced_run_times.h"

#include <algorithm>

namespace trigram {

BalancedRunTimes::BalancedRunTimes(const RunTimes& times, int ranks)
    : ranks_(static_cast<std::size_t>(ranks)), steps_(times.epoch_steps) {
  const RunTimeDraws draws(times);
  std::vector<double> drawn;
  for (std::size_t step = 0; step < steps_; ++step)
    for (int rank = 0; rank < ranks; ++rank)
      drawn.push_back(draws.factor(rank, static_cast<long>(step)));
  // Sizes are integers below 2^32. A billion for the largest factor leaves no visible rounding.
  const double units = 1e9 / std::max(1.0, *std::ranges::max_element(drawn));
  std::vector<std::size_t> sizes;
  for (const double factor : drawn) sizes.push_back(static_cast<std::size_t>(units * factor));
  const LoaderOptions options{.order = times.order, .random_level = times.random_level};
  for (const std::uint32_t sample :
       epoch_order(sizes, ranks, options, static_cast<std::uint64_t>(times.seed), 0))
    factors_.push_back(drawn[sample]);
}

double BalancedRunTimes::factor(int rank, long step) const {
  return factors_[static_cast<std::size_t>(step) % steps_ * ranks_ +
                  static_cast<std::size_t>(rank)];
}

}  // namespace trigram
