#include "experiments/advise/long_run.h"

#include <algorithm>

#include "experiments/run/steady_steps.h"

namespace trigram {
namespace {

constexpr long kMost = 5000;
/// A run is steady after two cycles, and must have others to leave out.
constexpr long kCycles = 4;

}  // namespace

long long_run_steps(const Experiment& e) {
  const auto algorithm = e.algorithm_entry().make(e.algorithm);
  const auto cycle = algorithm->cycle(e.cluster.layout());
  if (!cycle) {
    const long some = kCycles * algorithm->exchange_every();
    return some <= kMost ? std::max<long>(e.steps, some) : e.steps;
  }
  const long cycles = make_steady_steps(e, {}) ? kCycles : 1;
  if (cycle->from + cycles * cycle->steps > kMost) return e.steps;
  const long after = std::max<long>(e.steps, cycles * cycle->steps);
  return cycle->from + (after + cycle->steps - 1) / cycle->steps * cycle->steps;
}

long warm_up_steps(const Experiment& e) {
  const auto cycle = e.algorithm_entry().make(e.algorithm)->cycle(e.cluster.layout());
  return cycle ? cycle->from : 0;
}

}  // namespace trigram
