#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "experiments/advise/advisor.h"
#include "experiments/advise/long_run.h"
#include "experiments/exit_codes.h"
#include "experiments/results/manifest.h"
#include "experiments/results/run_folder.h"

// The runs of an answer: how long they are, which exist already, and what they show.

namespace trigram {
namespace {

/// The end of the name of the folder with runs that are no results.
constexpr const char* kSearch = "-search";

double least_cost_s(const std::map<std::size_t, Standing>& found) {
  double least_s = never_reached().time_s;
  for (const auto& [c, s] : found)
    if (s.is_known()) least_s = std::min(least_s, s.cost.time_s);
  return least_s;
}

}  // namespace

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
  if (scenario != unchanged()) plan.name += kSearch;
  else take_over_trials(plan);
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

/// Copies the runs that a trial has made already, as far as `plan` has them and they are no results
/// yet.
void Advisor::take_over_trials(const Plan& plan) {
  const Plan trial{plan.name + kSearch, {}};
  const SweepRunner trials(trial, options_.runner, true), results(plan, options_.runner, true);
  for (const PlannedRun& run : plan.runs) {
    const bool is_to_repeat = options_.runner.force && !tried_.contains({trial.name, run.id});
    const bool is_there = !options_.runner.force && results.state(run) == StoredRun::done;
    const StoredRun found = trials.stored(run);
    if (is_to_repeat || is_there || found.state != StoredRun::done ||
        tried_.contains({plan.name, run.id}))
      continue;
    copy_finished_run(options_.runner.output / trial.name / run.id, found.manifest,
                      options_.runner.output / plan.name);
    tried_.emplace(plan.name, run.id);
  }
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
