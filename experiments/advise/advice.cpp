#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "experiments/exit_codes.h"
#include "experiments/process/signals.h"

namespace trigram {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Factor between one look at the network and the next, further away.
constexpr double kStride = 4;
/// In microseconds: how far latencies that are described as zero are raised.
constexpr double kLargestFromZero = 4096;

}  // namespace

Advisor::Advisor(const Contest& contest, Options options)
    : contest_(contest),
      options_(std::move(options)),
      bandwidth_(contest.cluster(), Dimension::bandwidth),
      latency_(contest.cluster(), Dimension::duration) {}

Advice Advisor::advise() {
  Signals signals;  // one between two sweeps waits for the next, which ends as it is used to
  std::vector<std::size_t> all(contest_.candidates().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Advice advice;
  advice.standings = stand({unchanged(Dimension::bandwidth), unchanged(Dimension::duration)}, all);
  std::stable_sort(advice.standings.begin(), advice.standings.end(),
                   [](const Standing& a, const Standing& b) { return a.cost_s < b.cost_s; });
  if (advice.standings.front().cost_s == kInfinity) {
    if (!failed_) return advice;  // nobody gets there: that is the answer
    throw Stopped{kRunFailed};
  }
  const std::size_t winner = advice.standings.front().candidate;
  for (const Dimension of : {Dimension::bandwidth, Dimension::duration})
    for (const bool more : {false, true})
      if (more || !scale(of).from_zero()) advice.outlooks.push_back(look(of, more, winner));
  for (int signal = signals.wait(0); signal != 0; signal = signals.wait(0))
    if (signal != SIGCHLD) throw Stopped{kInterrupted};
  return advice;
}

Outlook Advisor::look(Dimension of, bool more, std::size_t winner) {
  Outlook outlook{of, more, more ? options_.range : 1 / options_.range, {}};
  Scan scan{unchanged(of), {}, more == (of == Dimension::bandwidth)};
  if (scan.from == 0) {
    outlook.limit = kLargestFromZero;
    scan.factors.push_back(1);
  }
  for (double factor = kStride; factor < std::max(outlook.limit, 1 / outlook.limit);
       factor *= kStride)
    scan.factors.push_back(more ? factor : 1 / factor);
  scan.factors.push_back(outlook.limit);
  const Costs costs = [&](double factor, const std::vector<std::size_t>& candidates) {
    Place place{unchanged(Dimension::bandwidth), unchanged(Dimension::duration)};
    (of == Dimension::bandwidth ? place.bandwidth : place.latency) = factor;
    std::vector<double> found;
    for (const Standing& s : stand(place, candidates)) found.push_back(s.cost_s);
    return found;
  };
  outlook.flip = find_flip(winner, contest_.candidates().size(), scan, costs);
  return outlook;
}

std::vector<Standing> Advisor::stand(const Place& place,
                                     const std::vector<std::size_t>& candidates) {
  Json at = bandwidth_.at(place.bandwidth);
  at.update(latency_.at(place.latency));
  const Plan plan = contest_.plan(at, candidates);
  results_ = options_.runner.output / plan.name;
  make(plan, place);
  const SweepRunner runner(plan, options_.runner, true);
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const StoredRun run = runner.stored(plan.runs[i]);
    Standing standing{candidates[i], kInfinity, plan.runs[i].id, nullptr};
    if (run.state == StoredRun::done) {
      standing.summary = run.manifest.at("summary");
      standing.cost_s = cost_s(contest_.target(), standing.summary);
    } else {
      failed_ = true;
    }
    standings.push_back(std::move(standing));
  }
  return standings;
}

/// Those runs that were made before are not spoken of.
void Advisor::make(const Plan& plan, const Place& place) {
  Plan missing{plan.name, {}};
  const SweepRunner runner(plan, options_.runner, true);
  for (const PlannedRun& run : plan.runs)
    if ((options_.runner.force || runner.state(run) != StoredRun::done) &&
        tried_.insert(run.id).second)
      missing.runs.push_back(run);
  if (missing.runs.empty()) return;
  if (!options_.quiet)
    fmt::print(stderr, "bandwidth {}, latency {}: {} run{}\n", bandwidth_.text(place.bandwidth),
               latency_.text(place.latency), missing.runs.size(),
               missing.runs.size() == 1 ? "" : "s");
  const int code = SweepRunner(missing, options_.runner, options_.quiet).run();
  if (code == kInterrupted) throw Stopped{code};
}

}  // namespace trigram
