#include "experiments/advise/long_run.h"

#include <algorithm>

#include "experiments/run/shortfall.h"
#include "experiments/run/steady_steps.h"

namespace trigram {
namespace {

constexpr long kMost = 5000;
/// A run is steady after two cycles, and must have others to leave out.
constexpr long kCycles = 4;

}  // namespace

long long_run_steps(const Experiment& e) {
  const Cycle cycle = rated_cycle(e);
  const long cycles = make_steady_steps(e, {}) ? kCycles : 1;
  const long least = std::max(cycles * cycle.steps, least_rated_steps(e));
  if (cycle.from + least > kMost) return e.steps;
  const long after = std::max<long>(e.steps, least);
  return cycle.from + (after + cycle.steps - 1) / cycle.steps * cycle.steps;
}

}  // namespace trigram
