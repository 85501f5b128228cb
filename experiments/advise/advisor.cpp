#include "experiments/advise/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "experiments/advise/long_run.h"
#include "experiments/exit_codes.h"
#include "experiments/process/signals.h"
#include "experiments/results/manifest.h"

namespace trigram {
namespace {

/// The factor between two successive values of a scan.
constexpr double kStride = 4;
/// The upper end of a scan, in microseconds, if all described latencies are zero.
constexpr double kLargestFromZero = 4096;

double least_cost_s(const std::map<std::size_t, Standing>& found) {
  double least_s = never_reached().time_s;
  for (const auto& [c, s] : found)
    if (s.is_known()) least_s = std::min(least_s, s.cost.time_s);
  return least_s;
}

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

/// Runs the candidates. If time or chance decides the exchanges of an algorithm, or its workers do
/// not wait for each other, its run is repeated with more steps until it shows the algorithm's
/// cost. The run of a candidate whose workers may leave lock step is also made longer as long as it
/// is first or tied with the first: a short run says only that it may be first. A candidate whose
/// run ended too early to be compared with the first is excluded.
std::vector<Standing> Advisor::run(const Scenario& scenario,
                                   const std::vector<std::size_t>& candidates) {
  std::vector<long> steps = steps_;
  if (scenario.draw != 0)
    for (const std::size_t c : candidates)
      steps[c] = std::max(steps[c], contest_.candidates()[c].steps_with_unequal_nics);
  std::map<std::size_t, Standing> found;
  double first_s = never_reached().time_s;
  for (std::vector<std::size_t> open = candidates; !open.empty();) {
    for (Standing& s : run_steps(scenario, open, steps)) {
      first_s = std::min(first_s, s.cost.time_s);
      found.insert_or_assign(s.candidate, std::move(s));
    }
    open.clear();
    const double least_s = least_cost_s(found);
    for (const auto& [c, s] : found) {
      const bool unclear = may_grow(c, scenario) && !s.why_not_compared.empty();
      const bool unproven = contest_.candidates()[c].leaves_lock_step && scenario.draw == 0 &&
                            s.is_known() && s.cost.time_s <= (1 + kTie) * least_s;
      const auto longer =
          unclear || unproven
              ? longer_run_steps(s.steps, s.summary, unproven ? kLongestToConfirm : kLongestRun)
              : std::nullopt;
      if (longer) {
        steps[c] = *longer;
        open.push_back(c);
      }
    }
  }
  std::vector<Standing> standings;
  for (const std::size_t c : candidates) {
    standings.push_back(std::move(found.at(c)));
    if (ended_before(standings.back(), first_s)) exclude_unfinished(standings.back());
  }
  return standings;
}

/// The results on the network as described all have the length that `find_run_lengths` has found.
/// On other networks, any run that measures a pace may have to be longer.
bool Advisor::may_grow(std::size_t candidate, const Scenario& scenario) const {
  const Candidate& c = contest_.candidates()[candidate];
  return c.grows || (scenario != unchanged() && c.steps_with_unequal_nics > 0);
}

/// True if a run ended before it reached the target's level, and before `first_s`, the earliest
/// time at which another candidate reached it.
bool Advisor::ended_before(const Standing& s, double first_s) const {
  return contest_.target().level && s.is_known() && !s.reaches_target() && !s.over_budget &&
         std::isfinite(first_s) && s.summary.at("time_s").get<double>() < first_s;
}

void Advisor::exclude_unfinished(Standing& s) const {
  s.why_not_compared = fmt::format(
      "had not reached the {} when its run of {} steps ended after {:.3g} s; the first candidate "
      "reached it later, so this one may be first",
      contest_.target().level->name(), s.steps, s.summary.at("time_s").get<double>());
  s.needs_steps = 2 * s.steps;
}

Json Advisor::settings(const Scenario& s) const {
  Json values = bandwidth_.settings(s.bandwidth);
  values.update(latency_.settings(s.latency));
  if (s.step_time != 1) values.update(step_time_.settings(s.step_time));
  if (s.draw != 0)
    values.update(
        {{"/cluster/bandwidth_jitter", kNicDifference}, {"/cluster/jitter_seed", s.draw}});
  return values;
}

/// Runs candidate c with `steps[c]` steps.
std::vector<Standing> Advisor::run_steps(const Scenario& scenario,
                                         const std::vector<std::size_t>& candidates,
                                         const std::vector<long>& steps) {
  Plan plan = contest_.plan(settings(scenario), candidates, steps);
  if (scenario != unchanged()) plan.name += "-search";
  make_missing_runs(plan, scenario);
  const SweepRunner runner(plan, options_.runner, true);
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    standings.push_back(standing(candidates[i], plan.runs[i], runner.stored(plan.runs[i])));
  return standings;
}

Standing Advisor::standing(std::size_t candidate, const PlannedRun& run, const StoredRun& stored) {
  Standing standing{
      candidate, never_reached(), run.id, nullptr, static_cast<long>(run.experiment.steps), "", 0,
      ""};
  if (stored.state != StoredRun::done) {
    failed_ = true;
    return standing;
  }
  standing.summary = stored.manifest.at("summary");
  standing.carries_on = !contest_.failures().none() && would_carry_on(run.experiment);
  standing.goodput = contest_.goodput(standing.summary, run.experiment, standing.carries_on);
  standing.why_not_compared = why_not_compared(contest_.target(), run.experiment, stored.manifest);
  if (!standing.why_not_compared.empty()) {
    if (!contest_.target().level)
      standing.needs_steps = needed_steps(run.experiment, standing.summary);
    return standing;
  }
  standing.why_rates_not_compared = why_not_compared(stored.manifest, Compared::rates);
  standing.take_cost(contest_.target());
  return standing;
}

/// Makes the runs that have no result yet. Prints nothing if all of them exist.
void Advisor::make_missing_runs(const Plan& plan, const Scenario& scenario) {
  Plan missing{plan.name, {}};
  const SweepRunner runner(plan, options_.runner, true);
  for (const PlannedRun& run : plan.runs)
    if ((options_.runner.force || runner.state(run) != StoredRun::done) &&
        tried_.emplace(plan.name, run.id).second)
      missing.runs.push_back(run);
  if (missing.runs.empty()) return;
  if (!options_.quiet)
    std::fputs(
        fmt::format(
            "bandwidth {}, latency {}{}{}: {} run{}\n", bandwidth_.text(scenario.bandwidth),
            latency_.text(scenario.latency),
            scenario.step_time == 1 ? "" : ", step time " + step_time_.text(scenario.step_time),
            scenario.draw == 0 ? ""
                               : fmt::format(", {} differ by {:g} %",
                                             has_one_node(contest_.cluster()) ? "ports" : "NICs",
                                             100 * kNicDifference),
            missing.runs.size(), missing.runs.size() == 1 ? "" : "s")
            .c_str(),
        stderr);
  const int code = SweepRunner(missing, options_.runner, options_.quiet).run();
  if (code == kInterrupted) throw Stopped{code};
}

}  // namespace trigram
