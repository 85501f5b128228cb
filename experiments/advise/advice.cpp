#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "experiments/advise/long_run.h"
#include "experiments/exit_codes.h"
#include "experiments/process/signals.h"
#include "experiments/results/exchanges.h"

namespace trigram {
namespace {

/// The factor between two successive values of a scan.
constexpr double kStride = 4;
/// The upper end of a scan, in microseconds, if all described latencies are zero.
constexpr double kLargestFromZero = 4096;
/// The number of draws of unequal NICs.
constexpr int kDraws = 3;
/// The candidates that are simulated with unequal NICs: at most this many, and only those whose
/// cost exceeds that of the first by at most this fraction.
constexpr std::size_t kMostContenders = 4;
constexpr double kFurthestBehind = 0.5;

/// The first candidate and those that are close behind it.
std::vector<std::size_t> contenders(const std::vector<Standing>& standings) {
  std::vector<std::size_t> found;
  for (const Standing& s : standings)
    if (found.size() < kMostContenders &&
        s.cost.time_s <= (1 + kFurthestBehind) * standings.front().cost.time_s)
      found.push_back(s.candidate);
  return found;
}

}  // namespace

const char* quantity_name(Quantity of) {
  if (of == Quantity::step_time) return "step_time";
  return of == Quantity::bandwidth ? "bandwidth" : "latency";
}

void UnequalNics::add(const Standing& standing) {
  const Reached& draw = standing.cost;
  const double most = 1 + kTie + kNicsDiffer;
  if (!standing.is_known()) {
    why_unknown = standing.why_unknown();
    return;
  }
  least_s = std::min(least_s, draw.time_s);
  most_s = std::max(most_s, draw.time_s);
  mean.after_s += draw.after_s / kDraws;
  mean.time_s += draw.time_s / kDraws;
  changes |= draw.after_s > most * equal.time_s || equal.after_s > most * draw.time_s;
}

std::vector<const Standing*> Advice::leaders() const {
  std::vector<const Standing*> found;
  double told_s = never().time_s;
  for (const Standing& s : standings) {
    if (!s.reaches_target() || !s.cost.may_precede(standings.front().cost)) continue;
    found.push_back(&s);
    if (!s.cost.coarse()) told_s = std::min(told_s, s.cost.time_s);
  }
  std::erase_if(found, [told_s](const Standing* s) {
    return s->cost.coarse() && s->cost.time_s > (1 + kTie) * told_s;
  });
  return found;
}

bool Advice::leads(const Standing& standing) const {
  return std::ranges::any_of(leaders(), [&](const Standing* s) { return s == &standing; });
}

double Advice::behind(const Standing& standing) const {
  return standing.cost.time_s / standings.front().cost.time_s - 1;
}

bool Advice::is_undecided(const Standing& standing) const {
  const bool exact = standing.cost.after_s == standing.cost.time_s;
  if (exact || !standing.reaches_target()) return false;
  if (&standing == &standings.front()) return leaders().size() > 1;
  return standing.cost.may_precede(standings.front().cost);
}

const UnequalNics& Advice::first_where_nics_differ() const {
  return *std::ranges::find(unequal, standings.front().candidate, &UnequalNics::candidate);
}

bool Advice::holds_where_nics_differ() const {
  return first_where_nics_differ().mean.may_precede(unequal.front().mean);
}

Advisor::Advisor(const Contest& contest, Options options)
    : contest_(contest),
      options_(std::move(options)),
      bandwidth_(contest.cluster(), Dimension::bandwidth),
      latency_(contest.cluster(), Dimension::duration),
      step_time_(contest.step_time_pointer(), contest.times().step_s) {
  for (const Candidate& c : contest.candidates()) steps_.push_back(c.steps);
}

std::filesystem::path Advisor::results() const { return options_.runner.output / contest_.name(); }

Advice Advisor::advise() {
  // A signal between two sweeps stays pending until the next sweep, which handles it.
  Signals signals;
  std::vector<std::size_t> all(contest_.candidates().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  find_lengths();
  Advice advice;
  advice.standings = run(unchanged(), all);
  std::stable_sort(
      advice.standings.begin(), advice.standings.end(),
      [](const Standing& a, const Standing& b) { return a.cost.time_s < b.cost.time_s; });
  if (!advice.standings.front().reaches_target()) {
    if (!failed_) return advice;  // if no candidate reaches the target, that is the answer
    throw Stopped{kRunFailed};
  }
  advice.unequal = where_nics_differ(advice.standings);
  const std::size_t winner = advice.standings.front().candidate;
  for (Sensitivity& s : sensitivities()) advice.sensitivities.push_back(scan(std::move(s), winner));
  for (int signal = signals.wait(0); signal != 0; signal = signals.wait(0))
    if (signal != SIGCHLD) throw Stopped{kInterrupted};
  return advice;
}

/// Makes the runs that determine the lengths in `steps_`. They are stored in the "-search" folder,
/// because some of them are too short to be results.
void Advisor::find_lengths() {
  Scenario scenario = unchanged();
  scenario.trial = true;
  std::vector<std::size_t> growing;
  for (std::size_t c = 0; c < contest_.candidates().size(); ++c)
    if (contest_.candidates()[c].grows) growing.push_back(c);
  for (const Standing& s : run(scenario, growing)) steps_[s.candidate] = s.steps;
}

/// The quantities to vary, and how far. The step time is varied only as far as it is uncertain: if
/// it is scaled to the cluster's accelerator, or was measured on another accelerator.
std::vector<Sensitivity> Advisor::sensitivities() const {
  std::vector<Sensitivity> all;
  for (const Quantity of : {Quantity::bandwidth, Quantity::latency})
    for (const bool more : {false, true})
      if (more || !scale(of).from_zero())
        all.push_back({of, more, more ? options_.range : 1 / options_.range, {}});
  const LayerTimes& times = contest_.times();
  if (times.step_s == 0) return all;
  const bool unknown = !contest_.is_time_known();
  const double least = unknown ? 1 / options_.range : times.least_s / times.step_s;
  const double most = unknown ? options_.range : times.most_s / times.step_s;
  if (least < 1 - kTie) all.push_back({Quantity::step_time, false, least, {}});
  if (most > 1 + kTie) all.push_back({Quantity::step_time, true, most, {}});
  return all;
}

std::vector<UnequalNics> Advisor::where_nics_differ(const std::vector<Standing>& standings) {
  if (contest_.cluster().value("bandwidth_jitter", 0.0) > 0) return {};
  const std::vector<std::size_t> candidates = contenders(standings);
  std::vector<UnequalNics> found;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    found.push_back({candidates[i], standings[i].cost, never().time_s, 0, {}});
  for (int draw = 1; draw <= kDraws; ++draw) {
    Scenario scenario = unchanged();
    scenario.draw = draw;
    const std::vector<Standing> there = run(scenario, candidates);
    for (std::size_t i = 0; i < found.size(); ++i) found[i].add(there[i]);
  }
  std::ranges::stable_sort(
      found, {}, [](const auto& u) { return std::pair(!u.why_unknown.empty(), u.mean.time_s); });
  return found;
}

Sensitivity Advisor::scan(Sensitivity sensitivity, std::size_t winner) {
  Scan scan{base(sensitivity.of), {}, sensitivity.more == (sensitivity.of == Quantity::bandwidth)};
  if (scan.from == 0) {
    sensitivity.limit = kLargestFromZero;
    scan.factors.push_back(1);
  }
  for (double factor = kStride; factor < std::max(sensitivity.limit, 1 / sensitivity.limit);
       factor *= kStride)
    scan.factors.push_back(sensitivity.more ? factor : 1 / factor);
  scan.factors.push_back(sensitivity.limit);
  const auto stand_at = [&](double factor, const std::vector<std::size_t>& candidates) {
    Scenario scenario = unchanged();
    (sensitivity.of == Quantity::bandwidth ? scenario.bandwidth
     : sensitivity.of == Quantity::latency ? scenario.latency
                                           : scenario.step_time) = factor;
    return run(scenario, candidates);
  };
  const Costs costs = [&](double factor, const std::vector<std::size_t>& candidates) {
    std::vector<std::optional<double>> found;
    // Evaluations give only intervals: a candidate is ahead of the winner if its interval ends
    // before the winner's interval begins.
    for (const Standing& s : stand_at(factor, candidates)) {
      found.emplace_back(s.candidate == winner ? s.cost.after_s : s.cost.time_s);
      if (!s.is_known()) found.back().reset();
    }
    return found;
  };
  sensitivity.found = find_flip(winner, contest_.candidates().size(), scan, costs);
  if (const auto& flip = sensitivity.found.flip; flip && !flip->first)
    sensitivity.why_unknown = stand_at(flip->flips, {winner}).front().why_unknown();
  return sensitivity;
}

/// Runs of these kinds are repeated with more steps until they show their algorithm's cost: time or
/// chance decides the exchanges, or workers do not wait for each other.
std::vector<Standing> Advisor::run(const Scenario& at, const std::vector<std::size_t>& candidates) {
  std::vector<long> steps = steps_;
  std::map<std::size_t, Standing> found;
  for (std::vector<std::size_t> open = candidates; !open.empty();) {
    std::vector<std::size_t> longer;
    for (Standing& s : run(at, open, steps)) {
      const bool grows = contest_.candidates()[s.candidate].grows && !s.not_compared.empty();
      if (const auto more = grows ? longer_run_steps(s.steps, s.summary) : std::nullopt) {
        steps[s.candidate] = *more;
        longer.push_back(s.candidate);
      }
      found.insert_or_assign(s.candidate, std::move(s));
    }
    open = std::move(longer);
  }
  std::vector<Standing> standings;
  for (const std::size_t c : candidates) standings.push_back(std::move(found.at(c)));
  return standings;
}

Json Advisor::settings(const Scenario& s) const {
  Json at = bandwidth_.at(s.bandwidth);
  at.update(latency_.at(s.latency));
  if (s.step_time != 1) at.update(step_time_.at(s.step_time));
  if (s.draw != 0)
    at.update({{"/cluster/bandwidth_jitter", kNicsDiffer}, {"/cluster/jitter_seed", s.draw}});
  return at;
}

std::vector<Standing> Advisor::run(const Scenario& scenario,
                                   const std::vector<std::size_t>& candidates,
                                   const std::vector<long>& steps) {
  Plan plan = contest_.plan(settings(scenario), candidates, steps);
  if (scenario != unchanged()) plan.name += "-search";
  make(plan, scenario);
  const SweepRunner runner(plan, options_.runner, true);
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    standings.push_back(run(candidates[i], plan.runs[i], runner.stored(plan.runs[i])));
  return standings;
}

Standing Advisor::run(std::size_t candidate, const PlannedRun& run, const StoredRun& stored) {
  Standing standing{candidate, never(), run.id, nullptr, static_cast<long>(run.experiment.steps),
                    "",        0,       ""};
  if (stored.state != StoredRun::done) {
    failed_ = true;
    return standing;
  }
  standing.summary = stored.manifest.at("summary");
  standing.not_compared = why_not_compared(contest_.target(), run.experiment, stored.manifest);
  if (!standing.not_compared.empty()) {
    if (!contest_.target().accuracy)
      standing.needs_steps = needed_steps(run.experiment, standing.summary);
    return standing;
  }
  standing.rates_not_compared = missing_exchanges(stored.manifest, Compared::rates);
  standing.cost = cost(contest_.target(), standing.summary);
  return standing;
}

/// Makes the runs that have no result yet. Prints nothing if all of them exist.
void Advisor::make(const Plan& plan, const Scenario& scenario) {
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
                                             100 * kNicsDiffer),
            missing.runs.size(), missing.runs.size() == 1 ? "" : "s")
            .c_str(),
        stderr);
  const int code = SweepRunner(missing, options_.runner, options_.quiet).run();
  if (code == kInterrupted) throw Stopped{code};
}

}  // namespace trigram
