#include "experiments/run/drawn_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "experiments/results/time_to_target.h"
#include "experiments/run/shortfall.h"

namespace trigram {
namespace {

/// Describes a relative error in a few levels, so that similar runs have the same warning and
/// tables show it once.
std::string error_text(double error) {
  if (std::isinf(error)) return "too few to tell how exactly";
  std::string above;
  for (const double level : {kTie, 0.02, 0.05, 0.1, 0.2})
    if (error > level) above = fmt::format("with a standard error above {:g} %", 100 * level);
  return above;
}

}  // namespace

std::vector<std::string> drawn_at_random(const Cluster& cluster) {
  std::vector<std::string> found;
  if (cluster.run_times.kind != RunTimes::Shape::constant) found.emplace_back("/cluster/run_times");
  const Cluster& all = cluster.whole ? *cluster.whole : cluster;  // among whose workers is drawn
  const bool all_late = cluster.stragglers.count == all.ranks();
  if (cluster.stragglers.count > 0 && !all_late) found.emplace_back("/cluster/stragglers");
  if (cluster.inter.background.load > 0) found.emplace_back("/cluster/inter/background");
  return found;
}

DrawnSteps::DrawnSteps(const Experiment& e)
    : drawn_(e.world().simulated ? drawn_at_random(e.cluster) : std::vector<std::string>{}),
      cycle_(rated_cycle(e)) {}

void DrawnSteps::add(const StepRecord& record) {
  if (!drawn_.empty() && record.step >= cycle_.first_step) steps_s_.push_back(record.step_s);
}

double DrawnSteps::standard_error_s() const {
  constexpr std::size_t kBatches = 10;
  const auto cycle = static_cast<std::size_t>(cycle_.steps);
  const std::size_t cycles = steps_s_.size() / cycle, batches = std::min(kBatches, cycles);
  if (batches < 2) return std::numeric_limits<double>::infinity();
  const std::size_t size = cycles / batches * cycle;
  std::vector<double> means;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto begin = steps_s_.begin() + static_cast<std::ptrdiff_t>(b * size);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(size));
  }
  const auto count = static_cast<double>(batches);
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
  double squares = 0;
  for (const double m : means) squares += (m - mean) * (m - mean);
  return std::sqrt(squares / (count - 1) / count);
}

std::string DrawnSteps::warning(double mean_s) const {
  const double error = standard_error_s() / mean_s;
  if (drawn_.empty() || error <= kTie) return "";
  return fmt::format(
      "{} {} drawn at random, and the mean step time comes from one draw of few steps, {}; rare "
      "events may be missing; more steps and other seeds tell more",
      fmt::join(drawn_, ", "), drawn_.size() == 1 ? "is" : "are", error_text(error));
}

}  // namespace trigram
