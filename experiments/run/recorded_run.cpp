#include "experiments/run/recorded_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/config/config_error.h"
#include "core/printable.h"
#include "core/runtime.h"
#include "experiments/config/resized.h"
#include "experiments/exit_codes.h"
#include "experiments/process/child_queue.h"
#include "experiments/run/failing_run.h"
#include "experiments/run/run.h"
#include "experiments/run/run_cost.h"

namespace trigram {
namespace {

constexpr const char* kOutcome = "outcome.json";

/// A result file that throws std::filesystem::filesystem_error if a write fails.
class ResultFile {
 public:
  explicit ResultFile(std::filesystem::path path) : path_(std::move(path)), file_(path_) {
    check();
  }
  void write_line(const Json& json) {
    file_ << json.dump() << '\n';
    check();
  }
  void close() {
    file_.close();
    check();
  }

 private:
  void check() const {
    if (file_) return;
    throw std::filesystem::filesystem_error("cannot write", path_,
                                            std::error_code(errno, std::generic_category()));
  }

  const std::filesystem::path path_;
  std::ofstream file_;
};

Outcome make_and_write(const PlannedRun& run, const std::filesystem::path& folder,
                       std::atomic<long>& progress, const CheckpointPlace& place,
                       const SimulatedSpan& span, const std::vector<Interruption>& interruptions) {
  ResultFile metrics(folder / "metrics.jsonl");
  double end_s = 0;
  const RunOutput output{[&](const StepRecord& record) {
                           metrics.write_line(to_json(record));
                           progress.store(record.step + 1, std::memory_order_relaxed);
                           end_s = span.origin_s + record.time_s;
                         },
                         [&](Json timeline) {
                           if (!interruptions.empty()) add_job(timeline, interruptions, end_s);
                           ResultFile file(folder / "trace.json");
                           file.write_line(timeline);
                           file.close();
                         }};
  Json summary = make_run(run.experiment, *run.workload, output, place, span, run.others);
  metrics.close();
  return {.summary = std::move(summary)};
}

/// The last line in the log before a stack trace. If a library ended the process, this line usually
/// gives the reason.
std::string last_log_line(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line) && !line.starts_with("Backtrace");)
    if (!line.empty()) last = line;
  return printable(last);
}

std::string signal_error(const std::filesystem::path& folder, int signal) {
  std::string error =
      fmt::format("the process was ended by signal {} ({})", signal, strsignal(signal));
  if (signal == SIGKILL) return error + ", as the kernel does when memory runs out";
  const std::string last_line = last_log_line(folder / "log.txt");
  return last_line.empty() ? error : error + "; the last line of its log: " + last_line;
}

/// Writes the outcome for take_outcome. Returns the exit code that it stands for.
int write_outcome(const Outcome& outcome, const std::filesystem::path& folder) {
  if (!outcome.ok()) spdlog::error("{}", outcome.error);
  std::ofstream file(folder / kOutcome);
  file << Json{{"summary", outcome.summary},
               {"error", outcome.error},
               {"hang", outcome.hang},
               {"refused", outcome.refused}};
  if (outcome.ok()) return kOk;
  return outcome.hang ? kWatchdog : outcome.refused ? kBadInput : kRunFailed;
}

/// Makes a run, or the part of a run that `span` gives. `interruptions` are those before
/// the part. Returns kCrashed if the part has ended before training was complete; there is no
/// outcome then.
int record_part(const PlannedRun& run, const std::filesystem::path& folder,
                std::atomic<long>& progress, const CheckpointPlace& place,
                const SimulatedSpan& span, const std::vector<Interruption>& interruptions = {}) {
  Outcome outcome;
  try {
    outcome = make_and_write(run, folder, progress, place, span, interruptions);
  } catch (const SimulationEnded&) {
    return kCrashed;
  } catch (const HangError& error) {
    outcome = {.error = error.what(), .hang = true};
  } catch (const ConfigError& error) {
    outcome = {.error = error.what(), .refused = true};
  } catch (const std::exception& error) {
    outcome = {.error = error.what()};
  }
  return write_outcome(outcome, folder);
}

/// Makes a simulated run whose workers crash, and adds what the crashes cost to its summary.
int record_failing_run(const PlannedRun& run, const std::filesystem::path& folder,
                       std::atomic<long>& progress, const CheckpointPlace& place) {
  FailingRun failing(run.experiment, place);
  const int code = failing.run([&](const FailingRun::Part& part) {
    PlannedRun generation = run;
    if (part.nodes != run.experiment.cluster.nodes)
      generation.experiment = with_nodes(run.experiment, part.nodes);
    return record_part(generation, folder, progress, part.place, part.span,
                       failing.record().interruptions);
  });
  if (!failing.error().empty()) return write_outcome({.error = failing.error()}, folder);
  if (code != kOk) return code;
  Outcome outcome = take_outcome(folder, 0);
  outcome.summary["failures"] = failing.record().to_json(outcome.summary.at("time_s"));
  if (outcome.summary["failures"].contains("generations")) forget_totals(outcome.summary["cost"]);
  return write_outcome(outcome, folder);
}

}  // namespace

int record_run(const PlannedRun& run, const std::filesystem::path& folder,
               std::atomic<long>& progress, const CheckpointPlace& place) {
  spdlog::info("run {}: {} in the world {}, {} ranks, {} steps", run.id,
               run.experiment.algorithm_entry().name, run.experiment.world().name,
               run.experiment.cluster.ranks(), run.experiment.steps);
  return has_simulated_crashes(run.experiment) ? record_failing_run(run, folder, progress, place)
                                               : record_part(run, folder, progress, place, {});
}

Outcome take_outcome(const std::filesystem::path& folder, int wait_status) {
  std::ifstream file(folder / kOutcome);
  const Json j = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  std::filesystem::remove(folder / kOutcome);
  if (WIFSIGNALED(wait_status)) return {.error = signal_error(folder, WTERMSIG(wait_status))};
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kOutOfMemory)
    return {.error =
                "out of memory; run fewer simulations at a time (--jobs), or use a smaller "
                "workload or cluster"};
  if (!j.is_object())
    return {.error = fmt::format("the process ended with code {} without a result",
                                 WEXITSTATUS(wait_status))};
  return {j["summary"], j["error"].get<std::string>(), j["hang"].get<bool>(),
          j["refused"].get<bool>()};
}

}  // namespace trigram
