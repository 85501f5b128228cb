#include "experiments/run/other_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace trigram {
namespace {

/// Names the job in what it throws.
Task named(Task rank_main, const std::string& job) {
  return [rank_main = std::move(rank_main), job](const Context& raw) {
    try {
      rank_main(raw);
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("job {}: {}", job, error.what()));
    }
  };
}

}  // namespace

OtherJobs::OtherJobs(const Experiment& measured, std::span<const JobBeside> others,
                     Runtime& runtime)
    : measured_(measured), ignored_{[](const StepRecord&) {}, [](const Json&) {}} {
  for (const JobBeside& job : others) {
    const Experiment& e = job.experiment;
    Other& other = *others_.emplace_back(
        std::make_unique<Other>(e, std::make_unique<JobRun>(e, *job.workload, runtime, ignored_,
                                                            CheckpointPlace{}, SimulatedSpan{})));
    other.run->begin();
    const auto rank_main = [run = other.run.get()](const Context& raw) { run->rank_main(raw); };
    e.world().add_job(runtime, {e.job, e.cluster, other.run->layout(),
                                timed(named(rank_main, e.job), e, other.times)});
  }
}

Task OtherJobs::from_start(Task rank_main) {
  if (measured_.jobs.empty()) return rank_main;
  return timed(std::move(rank_main), measured_, times_);
}

Task OtherJobs::timed(Task rank_main, const Experiment& e, Times& times) {
  times.live = e.cluster.ranks();
  times.began_s = start_s(e);
  return [rank_main = std::move(rank_main), &times](const Context& raw) {
    if (times.began_s > 0) raw.stream->sleep_for(times.began_s);
    rank_main(raw);
    if (--times.live == 0) times.ended_s = raw.stream->now();
  };
}

void OtherJobs::add_to(Json& summary) const {
  if (measured_.jobs.empty()) return;
  const double own_s = *times_.ended_s - times_.began_s;
  summary["jobs"] = Json::array();
  for (const auto& other : others_) {
    const Experiment& e = other->experiment;
    const auto& ended_s = other->times.ended_s;
    summary["jobs"].push_back({{"name", e.job},
                               {"steps", other->run->steps()},
                               {"began_s", other->times.began_s},
                               {"ended_s", ended_s ? Json(*ended_s) : Json()}});
    const double from_s = std::max(other->times.began_s, times_.began_s);
    const double until_s = std::min(ended_s.value_or(*times_.ended_s), *times_.ended_s);
    const double shared = std::max(0.0, until_s - from_s) / own_s;
    constexpr double kWhole = 0.99;
    if (shared < kWhole)
      summary["warnings"].push_back(
          fmt::format("job {} ran during {:.3g} % of this job's time only: give it more steps, or "
                      "another start, if the two are to be compared while both run",
                      e.job, 100 * shared));
  }
}

}  // namespace trigram
