#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/config/plan.h"
#include "experiments/process/job_queue.h"
#include "experiments/results/cores.h"
#include "experiments/results/manifest.h"
#include "experiments/results/stored_run.h"
#include "experiments/sweep/progress.h"

namespace trigram {

/// Throws ConfigError at "--output" where results of runs could not be written to `folder`.
void check_writable(const std::filesystem::path& folder);

/// Makes those runs of a plan that its results folder lacks, each in a process of its own, or in
/// the processes of a job.
class SweepRunner {
 public:
  struct Options {
    std::filesystem::path output = "results";
    int jobs = 0;        // simulations at a time; 0: as many as cores
    bool force = false;  // finished runs are made again
  };
  SweepRunner(const Plan& plan, Options options, bool quiet);

  /// Returns an exit code: kOk, kRunFailed when a run failed or a stale one was left, kBadInput
  /// when all that failed were refused, kWatchdog when the only run hung, kInterrupted.
  int run();

  /// A table of the runs that are there, and where.
  void print_results() const;

  StoredRun stored(const PlannedRun& run) const;
  StoredRun::State state(const PlannedRun& run) const { return stored(run).state; }

  /// The same in a job: all its processes call it, make every run together, and rank 0 alone reads
  /// and writes results; to the others, `plan` is all that matters.
  int run_in_job();

 private:
  bool wanted(const PlannedRun& run);
  void begin_progress(std::vector<long> steps, bool quiet);
  int make_all_in_job();
  void record_in_job(const PlannedRun& run, std::size_t index);
  void join_run(const PlannedRun& run);
  Job job(const PlannedRun& run, std::size_t index);
  Json measured_links(const PlannedRun& run);
  void finish(const PlannedRun& run, std::size_t index, int wait_status);
  int exit_code() const;

  const Plan& plan_;
  const Options options_;
  const bool quiet_;
  const std::filesystem::path folder_;
  struct Active;
  std::map<std::size_t, std::shared_ptr<Active>> active_;
  std::unique_ptr<Progress> progress_;
  std::optional<Cores> job_cores_;
  int stale_ = 0, failed_ = 0, refused_ = 0;
  bool hung_ = false;
};

}  // namespace trigram
