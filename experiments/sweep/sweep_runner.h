#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/config/plan.h"
#include "experiments/process/child_queue.h"
#include "experiments/results/cores.h"
#include "experiments/results/manifest.h"
#include "experiments/results/stored_run.h"
#include "experiments/run/run.h"
#include "experiments/sweep/progress.h"

namespace trigram {

/// Creates `folder`. Throws ConfigError at "--output" if it cannot be created or written to.
void check_writable(const std::filesystem::path& folder);

/// Makes the runs of a plan that its results folder lacks. `run` makes each run in a separate child
/// process; `run_in_job` makes each run with all processes of an MPI job.
class SweepRunner {
 public:
  struct Options {
    std::filesystem::path output = "results";
    int max_parallel = 0;                    // simulations at a time (--jobs); 0: one per core
    bool force = false;                      // repeat finished and stale runs
    bool resume = false;                     // continue unfinished runs from their checkpoints
    std::filesystem::path resume_from = {};  // continue another run from its checkpoints in here
  };
  SweepRunner(const Plan& plan, Options options, bool quiet);

  /// Returns an exit code:
  ///   kInterrupted  a signal ended the sweep; finished runs are kept
  ///   kWatchdog     the plan has one run, and the watchdog ended it
  ///   kBadInput     runs failed, all of them with a ConfigError, and no stale run was skipped
  ///   kRunFailed    a run failed for another reason, or a stale run was skipped
  ///   kOk           otherwise
  int run();

  /// Prints the comparison of the finished runs, or a plain table of them if Python is missing, and
  /// the path of the results.
  void print_results() const;

  /// The result of `run` in the results folder.
  StoredRun stored(const PlannedRun& run) const;
  StoredRun::State state(const PlannedRun& run) const { return stored(run).state; }

  /// Throws ConfigError at "--resume" or "--resume-from" if an unfinished run has checkpoints and
  /// the options do not say what becomes of them, or if a checkpoint is that of another experiment.
  void check_checkpoints() const;

  /// Collective over all processes of a job. Only rank 0 reads and writes results; the other ranks
  /// use only the plan. Returns the same exit codes as `run`, except kInterrupted; only rank 0
  /// returns kWatchdog. An error outside a run, such as a full disk, aborts the job.
  int run_in_job();

 private:
  CheckpointPlace checkpoints_of(const PlannedRun& run) const;
  void print_table(const std::vector<Json>& manifests, const std::string& ids) const;
  bool wanted(const PlannedRun& run);
  void begin_progress(std::vector<long> steps, bool quiet);
  int make_all_in_job();
  void record_in_job(const PlannedRun& run, std::size_t index);
  void join_run(const PlannedRun& run);
  ChildTask task(const PlannedRun& run, std::size_t index);
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
