#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "experiments/config/jobs.h"
#include "experiments/run/job_run.h"

namespace trigram {

/// The jobs that share the network with the one that a run measures, and the times at which all of
/// them begin and end.
class OtherJobs {
 public:
  /// Adds `others` to the next launch of `runtime`. All arguments must outlive the object.
  OtherJobs(const Experiment& measured, std::span<const JobBeside> others, Runtime& runtime);
  OtherJobs(const OtherJobs&) = delete;
  OtherJobs& operator=(const OtherJobs&) = delete;

  /// The main function of a rank of the measured job: `rank_main`, from the job's start on.
  Task from_start(Task rank_main);
  /// Adds "jobs", and warnings about jobs that did not run for the whole time of the measured job.
  void add_to(Json& summary) const;

 private:
  /// Seconds of the world's clock.
  struct Times {
    double began_s = 0;
    int live = 0;
    std::optional<double> ended_s = {};
  };
  struct Other {
    const Experiment& experiment;
    std::unique_ptr<JobRun> run;
    Times times = {};
  };
  static Task timed(Task rank_main, const Experiment& e, Times& times);

  const Experiment& measured_;
  Times times_;
  const RunOutput ignored_;
  std::vector<std::unique_ptr<Other>> others_;
};

}  // namespace trigram
