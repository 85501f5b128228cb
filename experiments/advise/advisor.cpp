#include "experiments/advise/advisor.h"

#include <algorithm>
#include <numeric>

#include "experiments/exit_codes.h"
#include "experiments/process/signals.h"

namespace trigram {
namespace {

/// The factor between two successive values of a scan.
constexpr double kStride = 4;
/// The upper end of a scan, in microseconds, if all described latencies are zero.
constexpr double kLargestFromZero = 4096;

}  // namespace

Advisor::Advisor(const Contest& contest, Options options)
    : contest_(contest),
      options_(std::move(options)),
      bandwidth_(contest.cluster(), Dimension::bandwidth),
      latency_(contest.cluster(), Dimension::duration),
      step_time_(contest.step_time_pointer(), contest.times().step_s) {
  for (const Candidate& c : contest.candidates()) steps_.push_back(c.steps);
}

std::filesystem::path Advisor::results() const { return options_.runner.output / contest_.name(); }

Advice Advisor::advise(std::vector<TunedBucket> tuned,
                       const std::function<void(const Advice&)>& ranked) {
  // A signal between two sweeps stays pending until the next sweep, which handles it.
  Signals signals;
  Advice advice;
  advice.tuned = std::move(tuned);
  advice.standings = rank(false);
  const bool is_reached = advice.standings.front().reaches_target();
  if (!is_reached && failed_) throw Stopped{kRunFailed};
  ranked(advice);
  if (!is_reached || options_.ranking_only) return advice;
  advice.unequal = run_with_unequal_nics(advice.standings);
  const std::size_t winner = advice.standings.front().candidate;
  for (Sensitivity& s : quantities_to_vary())
    advice.sensitivities.push_back(scan(std::move(s), winner));
  for (int signal = signals.wait(0); signal != 0; signal = signals.wait(0))
    if (signal != SIGCHLD) throw Stopped{kInterrupted};
  return advice;
}

std::vector<Standing> Advisor::rank(bool trial) {
  std::vector<std::size_t> candidates(contest_.candidates().size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  if (!trial) find_run_lengths();
  std::vector<Standing> standings = run(unchanged(trial), candidates);
  std::ranges::stable_sort(standings, {}, [](const Standing& s) { return s.cost.time_s; });
  return standings;
}

/// Makes the runs that determine `steps_`. They are stored in the "-search" folder, because some of
/// them are too short to be results.
void Advisor::find_run_lengths() {
  std::vector<std::size_t> growing;
  for (std::size_t c = 0; c < contest_.candidates().size(); ++c)
    if (contest_.candidates()[c].grows) growing.push_back(c);
  for (const Standing& s : run(unchanged(true), growing)) steps_[s.candidate] = s.steps;
}

/// The quantities to vary, and how far. The step time is varied only within its uncertainty, which
/// it has if it was scaled to the cluster's accelerator or measured on another accelerator.
std::vector<Sensitivity> Advisor::quantities_to_vary() const {
  std::vector<Sensitivity> sensitivities;
  for (const Quantity quantity : {Quantity::bandwidth, Quantity::latency})
    for (const bool increases : {false, true})
      if (increases || !scale(quantity).all_zero())
        sensitivities.push_back(
            {quantity, increases, increases ? options_.range : 1 / options_.range, {}});
  const LayerTimes& times = contest_.times();
  if (times.step_s == 0) return sensitivities;
  const bool unknown = !contest_.is_time_known();
  const double least = unknown ? 1 / options_.range : times.least_s / times.step_s;
  const double most = unknown ? options_.range : times.most_s / times.step_s;
  if (least < 1 - kTie) sensitivities.push_back({Quantity::step_time, false, least, {}});
  if (most > 1 + kTie) sensitivities.push_back({Quantity::step_time, true, most, {}});
  return sensitivities;
}

std::vector<UnequalNics> Advisor::run_with_unequal_nics(const std::vector<Standing>& standings) {
  if (contest_.cluster().value("bandwidth_jitter", 0.0) > 0) return {};
  const std::vector<std::size_t> candidates = contenders(standings);
  std::vector<UnequalNics> found;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    found.push_back({candidates[i], standings[i].cost, never_reached().time_s, 0, {}});
  for (int draw = 1; draw <= kNicDraws; ++draw) {
    Scenario scenario = unchanged();
    scenario.draw = draw;
    const std::vector<Standing> drawn = run(scenario, candidates);
    for (std::size_t i = 0; i < found.size(); ++i) found[i].add(drawn[i]);
  }
  std::ranges::stable_sort(
      found, {}, [](const auto& u) { return std::pair(!u.why_unknown.empty(), u.mean.time_s); });
  return found;
}

Sensitivity Advisor::scan(Sensitivity sensitivity, std::size_t winner) {
  Scan scan{base(sensitivity.quantity),
            {},
            sensitivity.increases == (sensitivity.quantity == Quantity::bandwidth)};
  if (scan.start == 0) {
    sensitivity.limit = kLargestFromZero;
    scan.factors.push_back(1);
  }
  for (double factor = kStride; factor < std::max(sensitivity.limit, 1 / sensitivity.limit);
       factor *= kStride)
    scan.factors.push_back(sensitivity.increases ? factor : 1 / factor);
  scan.factors.push_back(sensitivity.limit);
  const auto standings_at = [&](double factor, const std::vector<std::size_t>& candidates) {
    Scenario scenario = unchanged();
    (sensitivity.quantity == Quantity::bandwidth ? scenario.bandwidth
     : sensitivity.quantity == Quantity::latency ? scenario.latency
                                                 : scenario.step_time) = factor;
    return run(scenario, candidates);
  };
  const Costs costs = [&](double factor, const std::vector<std::size_t>& candidates) {
    std::vector<std::optional<double>> found;
    // Evaluations give only intervals: a candidate is ahead of the winner if its interval ends
    // before the winner's interval begins.
    for (const Standing& s : standings_at(factor, candidates)) {
      found.emplace_back(s.candidate == winner ? s.cost.after_s : s.cost.time_s);
      if (!s.is_known()) found.back().reset();
    }
    return found;
  };
  sensitivity.search = find_flip(winner, contest_.candidates().size(), scan, costs);
  if (const auto& flip = sensitivity.search.flip; flip && !flip->new_first)
    sensitivity.why_unknown = standings_at(flip->flips, {winner}).front().why_unknown();
  return sensitivity;
}

}  // namespace trigram
