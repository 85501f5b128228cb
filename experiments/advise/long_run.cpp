#include "experiments/advise/long_run.h"

#include <algorithm>

#include "experiments/run/shortfall.h"
#include "experiments/run/steady_steps.h"

namespace trigram {
namespace {

constexpr long kMost = 5000;
/// A run is steady after two cycles, and must have others to leave out.
constexpr long kCycles = 4;
/// In a run, at most: an interval between two is then small beside the time to most accuracies.
constexpr long kEvaluations = 200;

}  // namespace

long long_run_steps(const Experiment& e) {
  const Cycle cycle = rated_cycle(e);
  const long cycles = make_steady_steps(e, {}) ? kCycles : 1;
  const long least = std::max(cycles * cycle.steps, least_rated_steps(e));
  if (cycle.from + least > kMost) return e.steps;
  const long after = std::max<long>(e.steps, least);
  return cycle.from + (after + cycle.steps - 1) / cycle.steps * cycle.steps;
}

long evaluated_every(const Experiment& e, bool asked) {
  const auto every = static_cast<long>(e.eval_every), steps = static_cast<long>(e.steps);
  const long some = asked ? every : std::min(every, std::max<long>(1, steps / kEvaluations));
  const long cycle = e.algorithm_entry().make(e.algorithm)->exchange_every();
  return cycle > steps ? some : (some + cycle - 1) / cycle * cycle;
}

}  // namespace trigram
