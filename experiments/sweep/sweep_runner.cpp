#include "experiments/sweep/sweep_runner.h"

#include <fmt/format.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/config/config_error.h"
#include "core/logging/rank_log.h"
#include "core/printable.h"
#include "experiments/checkpoint/checkpoint_folder.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/process/analysis.h"
#include "experiments/results/run_folder.h"
#include "experiments/run/checkpoint_match.h"
#include "experiments/run/checkpoints.h"
#include "experiments/run/failing_run.h"
#include "experiments/run/link_check.h"
#include "experiments/run/recorded_run.h"
#include "experiments/run/run.h"
#include "experiments/tables/plain_table.h"
#include "experiments/text/labels.h"
#include "experiments/text/print_error.h"
#include "experiments/text/shell_word.h"
#include "experiments/version.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

using Clock = std::chrono::steady_clock;

std::string run_label(const PlannedRun& run) {
  return fmt::format("{} {}", run.id, describe(run.coordinates));
}

}  // namespace

/// A run in progress.
struct SweepRunner::Active {
  Active(const std::filesystem::path& experiment, const std::string& id) : folder(experiment, id) {}
  RunFolder folder;
  Period period{utc_now(), "", 0};
  Clock::time_point began = Clock::now();
  Json links;  // measured links of an emulated network
};

void check_writable(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path probe = folder / fmt::format(".writable.{}", getpid());
  if (!error) std::filesystem::create_directory(probe, error);
  if (error)
    throw ConfigError("--output", fmt::format("expected a folder that can be written; {}: {}",
                                              shortened(folder.string()), error.message()));
  std::filesystem::remove(probe);
}

SweepRunner::SweepRunner(const Plan& plan, Options options, bool quiet)
    : plan_(plan),
      options_(std::move(options)),
      quiet_(quiet),
      folder_(options_.output / plan.name) {}

StoredRun SweepRunner::stored(const PlannedRun& run) const {
  return read_stored_run(folder_ / run.id, version().git);
}

/// Prints the output of `trigram table` for the runs with these ids, or else a plain table.
void SweepRunner::print_table(const std::vector<Json>& manifests, const std::string& ids) const {
  const AnalysisOutput table =
      run_analysis({"table", "--ids-from-stdin", "--", folder_.string()}, ids);
  if (table.failure.empty()) {
    fmt::print("{}", table.out);
    fmt::print(stderr, "{}", table.err);
    return;
  }
  fmt::print(
      "{}these runs are not compared, which needs Python 3.11 or later: {}; the variable PYTHON "
      "can name another interpreter\n",
      plain_table(manifests), printable(table.failure));
}

void SweepRunner::print_results() const {
  std::vector<Json> manifests;
  std::string ids;
  for (const PlannedRun& planned : plan_.runs)
    if (const StoredRun run = stored(planned); run.state == StoredRun::done) {
      manifests.push_back(run.manifest);
      ids += planned.id + "\n";
    }
  if (!manifests.empty()) print_table(manifests, ids);
  fmt::print("{}", results_lines(folder_.string()));
}

/// True if the run has to be made. Prints a message if a stale result prevents it. If a different
/// sweep made a finished run, the run gets its coordinates in this sweep.
bool SweepRunner::wanted(const PlannedRun& run) {
  if (options_.force) return true;
  const StoredRun existing = stored(run);
  if (existing.state == StoredRun::stale) {
    ++stale_;
    print_error(fmt::format("stale: {} ({}) {}; --force repeats it", run.id,
                            describe(run.coordinates), printable(existing.why_stale)));
  }
  if (existing.state == StoredRun::done &&
      existing.manifest.value("sweep", Json()) != run.coordinates)
    relabel(folder_ / run.id, existing, run.coordinates);
  return existing.state != StoredRun::done && existing.state != StoredRun::stale;
}

CheckpointPlace SweepRunner::checkpoints_of(const PlannedRun& run) const {
  return {folder_ / (run.id + ".checkpoints"), options_.resume, options_.resume_from};
}

void SweepRunner::check_checkpoints() const {
  bool any = false;
  for (const PlannedRun& run : plan_.runs) {
    if (!run.experiment.checkpoint) continue;
    any = true;
    if (state(run) == StoredRun::done || options_.force) continue;
    const CheckpointFolder checkpoints(checkpoints_of(run).folder);
    const std::vector<long> steps = checkpoints.steps();
    if (steps.empty()) continue;
    if (!options_.resume)
      throw ConfigError("--resume",
                        fmt::format("run {} has a checkpoint of step {}; expected this option to "
                                    "continue from it, or --force to begin again",
                                    run.id, steps.front()));
    check_same_run(run.experiment, checkpoints);
  }
  const std::string option = options_.resume ? "--resume" : "--resume-from";
  if ((options_.resume || !options_.resume_from.empty()) && !any)
    throw ConfigError(option,
                      "no run has checkpoints; expected \"checkpoint\": {\"every\": "
                      "...} in the experiment");
  if (options_.resume && options_.force)
    throw ConfigError("--resume", "expected either this option or --force, which begins again");
  if (options_.resume_from.empty()) return;
  if (options_.resume)
    throw ConfigError("--resume-from",
                      "expected either this option or --resume, which continues a run itself");
  if (plan_.runs.size() != 1)
    throw ConfigError("--resume-from",
                      fmt::format("expected an experiment of one run, not {}", plan_.runs.size()));
  if (has_simulated_crashes(plan_.runs.front().experiment))
    throw ConfigError("--resume-from",
                      "the simulated crashes of a run begin with its first step; expected a run "
                      "without failures, or the world mpi under trigram launch");
  check_same_training(plan_.runs.front().experiment, options_.resume_from);
}

ChildTask SweepRunner::task(const PlannedRun& run, std::size_t index) {
  return {.exclusive = !run.experiment.world().simulated,
          .start =
              [this, &run, index] {
                auto active = std::make_shared<Active>(folder_, run.id);
                active_[index] = active;
                if (run.experiment.emulates() && !run.experiment.world().processes)
                  active->links = measured_links(run);
                return ChildTask::Started{[this, &run, index, active] {
                                            return record_run(run, active->folder.path(),
                                                              progress_->counter(index),
                                                              checkpoints_of(run));
                                          },
                                          active->folder.path() / "log.txt"};
              },
          .ended = [this, &run, index](int status) { finish(run, index, status); }};
}

/// Measures and prints the links of the run's network, and returns them for the manifest. Errors
/// are only warnings here: if a world cannot carry messages, the run itself fails.
Json SweepRunner::measured_links(const PlannedRun& run) {
  try {
    const auto links = check_links(run.experiment, *run.workload);
    const std::string table = link_table(links);
    progress_->note(table.substr(0, table.size() - 1));
    warn_about(links, run_label(run));
    return to_json(links);
  } catch (const std::exception& error) {
    spdlog::warn("{}: the links could not be measured: {}", run.id, error.what());
    return nullptr;
  }
}

void SweepRunner::finish(const PlannedRun& run, std::size_t index, int wait_status) {
  const std::shared_ptr<Active> active = active_.at(index);
  active_.erase(index);
  const Outcome outcome = take_outcome(active->folder.path(), wait_status);
  active->period.finished = utc_now();
  active->period.wall_s = std::chrono::duration<double>(Clock::now() - active->began).count();
  const Cores cores = job_cores_.value_or(cores_of_threads(run.experiment.cluster.ranks()));
  active->folder.publish(make_manifest(run, outcome, active->period, active->links, cores),
                         outcome.ok());
  if (!outcome.ok()) ++failed_;
  if (outcome.refused) ++refused_;
  hung_ = hung_ || outcome.hang;
  progress_->ended(index, run_label(run), outcome.error, active->period.wall_s);
}

/// `steps` has one entry for each run to be made.
void SweepRunner::begin_progress(std::vector<long> steps, bool quiet) {
  const std::size_t finished = plan_.runs.size() - steps.size() - static_cast<std::size_t>(stale_);
  progress_ = std::make_unique<Progress>(std::move(steps), quiet);
  if (finished > 0)
    progress_->note(fmt::format("{} of {} runs are done already", finished, plan_.runs.size()));
}

int SweepRunner::exit_code() const {
  if (hung_ && plan_.runs.size() == 1) return kWatchdog;
  if (refused_ > 0 && refused_ == failed_ + stale_) return kBadInput;
  return failed_ + stale_ > 0 ? kRunFailed : kOk;
}

int SweepRunner::run() {
  check_writable(folder_);
  remove_leftovers(folder_);
  ChildQueue queue(options_.max_parallel > 0 ? options_.max_parallel : available_cores());
  std::vector<long> steps;
  for (const PlannedRun& run : plan_.runs) {
    if (!wanted(run)) continue;
    queue.add(task(run, steps.size()));
    steps.push_back(static_cast<long>(run.experiment.steps));
  }
  begin_progress(std::move(steps), quiet_);
  const bool completed = queue.run([this] { progress_->tick(); });
  active_.clear();  // removes unfinished folders
  if (!completed) {
    progress_->clear();
    print_error("interrupted; finished runs are kept, and the same command continues");
    return kInterrupted;
  }
  progress_->finish();
  return exit_code();
}

/// An error of a run is recorded in its results. Any other error, such as a full disk, may occur in
/// this process only, so it aborts the whole job.
int SweepRunner::run_in_job() {
  try {
    return make_all_in_job();
  } catch (const std::exception& error) {
    active_.clear();  // removes unfinished folders
    mpi_abort(printable(error.what()), kRunFailed);
  }
}

int SweepRunner::make_all_in_job() {
  const bool first = rank_in_job() == 0;
  std::vector<bool> wanted_by_rank_0(plan_.runs.size());
  std::vector<long> steps;
  if (first) {
    remove_leftovers(folder_);
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) wanted_by_rank_0[i] = wanted(plan_.runs[i]);
  }
  const std::vector<bool> wanted = agree_on_runs(plan_, wanted_by_rank_0);
  job_cores_ = agree_on_cores(watchdog_s(plan_));
  for (std::size_t i = 0; i < plan_.runs.size(); ++i)
    if (wanted[i]) steps.push_back(static_cast<long>(plan_.runs[i].experiment.steps));
  begin_progress(std::move(steps), quiet_ || !first);
  std::size_t index = 0;
  for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
    if (!wanted[i]) continue;
    const std::string label = run_label(plan_.runs[i]);
    rank_log::print("run {}: begins", label);
    if (first) record_in_job(plan_.runs[i], index++);
    else join_run(plan_.runs[i]);
    rank_log::print("run {}: is over", label);
  }
  progress_->finish();
  return exit_code();
}

void SweepRunner::record_in_job(const PlannedRun& run, std::size_t index) {
  const ChildTask::Started started = task(run, index).start();
  // Log messages of the child would otherwise appear between the progress lines.
  spdlog::default_logger()->sinks().front()->set_level(spdlog::level::warn);
  const int code = started.body();
  finish(run, index, W_EXITCODE(code, 0));
}

/// Takes part in a run as a rank other than 0. A run that fails here also fails on rank 0, which
/// reports the error.
void SweepRunner::join_run(const PlannedRun& run) {
  try {
    make_run(run.experiment, *run.workload, {}, checkpoints_of(run));
  } catch (const ConfigError& error) {
    rank_log::print("run {} is refused: {}", run.id, error.what());
    ++failed_;
    ++refused_;
  } catch (const std::exception& error) {
    rank_log::print("run {} failed: {}", run.id, error.what());
    ++failed_;
  }
}

}  // namespace trigram
