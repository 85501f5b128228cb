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

/// Throws ConfigError at "--output" if results cannot be written to `folder`.
void check_writable(const std::filesystem::path& folder);

/// Makes the runs of a plan that are missing in its results folder, each in its own child process,
/// or together in the processes of a job.
class SweepRunner {
 public:
  struct Options {
    std::filesystem::path output = "results";
    int jobs = 0;        // simulations at a time; 0: one per core
    bool force = false;  // make finished runs again
  };
  SweepRunner(const Plan& plan, Options options, bool quiet);

  /// Returns an exit code: kOk; kRunFailed if a run failed or a stale run was skipped; kBadInput if
  /// all failures were refused runs; kWatchdog if the only run hung; kInterrupted.
  int run();

  /// Prints a table of the finished runs and the path of the results.
  void print_results() const;

  StoredRun stored(const PlannedRun& run) const;
  StoredRun::State state(const PlannedRun& run) const { return stored(run).state; }

  /// Like run, but collective over all processes of a job, which make every run together. Only rank
  /// 0 reads and writes results; the other ranks use only `plan`.
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
