#include "netmodels/balanced_run_times.h"

namespace trigram {

BalancedRunTimes::BalancedRunTimes(const RunTimes& times, int ranks)
    : ranks_(static_cast<std::size_t>(ranks)), steps_(times.epoch_steps) {
  constexpr double kUnits = 1e6;  // of the mean factor, for sizes, which are integers
  const RunTimeDraws draws(times);
  std::vector<double> drawn;
  std::vector<std::size_t> sizes;
  for (std::size_t step = 0; step < steps_; ++step)
    for (int rank = 0; rank < ranks; ++rank) {
      drawn.push_back(draws.factor(rank, static_cast<long>(step)));
      sizes.push_back(static_cast<std::size_t>(kUnits * drawn.back()));
    }
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
