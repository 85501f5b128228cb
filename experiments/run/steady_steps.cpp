#include "experiments/run/steady_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiments/run/shortfall.h"
#include "netmodels/machines.h"

namespace trigram {
namespace {

/// Tolerance, relative to a cycle's time and to the depth of a token bucket.
constexpr double kRoundingTolerance = 1e-9;
/// The longest cycle to look for, in multiples of the common period of algorithm and machines.
constexpr std::size_t kMultiples = 4;

bool same_traffic(const Counters& a, const Counters& b) {
  const double usd_tolerance = kRoundingTolerance * std::max(a.egress_usd, b.egress_usd);
  return a.bytes_intra == b.bytes_intra && a.bytes_inter == b.bytes_inter &&
         a.messages_intra == b.messages_intra && a.messages_inter == b.messages_inter &&
         a.bytes_egress == b.bytes_egress && std::abs(a.egress_usd - b.egress_usd) <= usd_tolerance;
}

}  // namespace

void SteadySteps::add(const StepRecord& record, std::span<const RankStep> ranks,
                      std::span<const std::vector<float>> /*weights*/, long furthest) {
  if (end_ < options_.steps) return;
  Step step{record, {ranks.begin(), ranks.end()}, {}, credits_()};
  ended_s_.resize(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    step.seconds.push_back(ranks[rank].end_s - ended_s_[rank]);
    ended_s_[rank] = ranks[rank].end_s;
  }
  const auto cycle = static_cast<std::size_t>(options_.cycle.steps);
  if (steps_.size() == 2 * kMultiples * cycle) steps_.erase(steps_.begin());
  steps_.push_back(std::move(step));
  for (std::size_t multiple = 1; multiple <= kMultiples; ++multiple) {
    if (!steady(multiple * cycle)) continue;
    const auto found_cycle = static_cast<long>(multiple * cycle);
    const long begun = furthest + 1;  // the latest step that a rank may have begun
    const long end = begun + 2;       // no rank has begun the new last step, begun + 1
    end_ = std::min(options_.steps, end + (options_.steps - end) % found_cycle);
    if (end_ < options_.steps) cycle_ = found_cycle;
    return;
  }
}

bool SteadySteps::steady(std::size_t cycle) const {
  if (steps_.size() < 2 * cycle || steps_.back().record.step < options_.shown) return false;
  const StepRecord& first = last(2 * cycle).front().record;
  if (first.step < options_.cycle.first_step || first.time_s - first.step_s < options_.after_s)
    return false;
  double seconds = 0;  // seconds of rank 0
  for (const Step& step : last(cycle)) seconds += step.seconds.front();
  const double tolerance_s = kRoundingTolerance * seconds;
  for (std::size_t i = 0; i < cycle; ++i)
    if (!repeats(last(cycle)[i], last(2 * cycle)[i], tolerance_s)) return false;
  return takes_equal_time(cycle, seconds, tolerance_s);
}

bool SteadySteps::repeats(const Step& step, const Step& before, double tolerance_s) const {
  for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
    if (std::abs(step.seconds[rank] - before.seconds[rank]) > tolerance_s ||
        !same_traffic(step.ranks[rank].spent, before.ranks[rank].spent))
      return false;
  for (std::size_t i = 0; i < step.credits.size(); ++i)
    if (std::abs(step.credits[i] - before.credits[i]) > kRoundingTolerance * options_.depth_bytes)
      return false;
  return true;
}

/// True if the last cycle took all ranks the same time, and this time is a multiple of the clock
/// interval that the algorithm uses.
bool SteadySteps::takes_equal_time(std::size_t cycle, double seconds, double tolerance_s) const {
  for (std::size_t rank = 0; rank < ended_s_.size(); ++rank) {
    double own = 0;
    for (const Step& step : last(cycle)) own += step.seconds[rank];
    if (std::abs(own - seconds) > tolerance_s) return false;
  }
  const double clock_s = options_.cycle.clock_s;
  return clock_s == 0 || std::abs(std::remainder(seconds, clock_s)) <= tolerance_s;
}

std::vector<StepRecord> SteadySteps::cycle() const {
  std::vector<StepRecord> records;
  for (const Step& step : last(static_cast<std::size_t>(cycle_))) records.push_back(step.record);
  return records;
}

std::vector<Counters> SteadySteps::with_left_out(std::span<const Counters> sent) const {
  std::vector<Counters> all(sent.begin(), sent.end());
  if (cycles_left_out() == 0) return all;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    for (const Step& step : last(static_cast<std::size_t>(cycle_)))
      all[rank] = all[rank] + cycles_left_out() * step.ranks[rank].spent;
  return all;
}

Json SteadySteps::to_json() const {
  if (end_ == options_.steps) return nullptr;
  double seconds = 0;
  for (const StepRecord& record : cycle()) seconds += record.step_s;
  return {{"step", steps_.back().record.step},
          {"cycle", cycle_},
          {"left_out", options_.steps - end_},
          {"step_s", seconds / static_cast<double>(cycle_)}};
}

std::unique_ptr<SteadySteps> make_steady_steps(const Experiment& e, SteadySteps::Credits credits) {
  if (!e.until_steady || e.cluster.inter.background.load > 0) return nullptr;
  const std::optional<Cycle> algorithm = e.schedule().cycle;
  const auto machines = machine_period(e.cluster);
  if (!algorithm || !algorithm->exact || !machines) return nullptr;
  SteadySteps::Options options{.cycle = *algorithm,
                               .steps = static_cast<long>(e.steps),
                               .shown = shown_step(e),
                               .depth_bytes = e.cluster.inter.shaping.depth_bytes};
  options.cycle.steps = std::lcm(options.cycle.steps, *machines);
  if (!e.cluster.inter.profile.empty()) options.after_s = e.cluster.inter.profile.back().at_s;
  return std::make_unique<SteadySteps>(options, std::move(credits));
}

}  // namespace trigram
