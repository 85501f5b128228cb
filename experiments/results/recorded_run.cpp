#include "experiments/results/recorded_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/wait.h>

#include <fstream>

#include "core/config/config_error.h"
#include "core/runtime.h"
#include "experiments/exit_codes.h"
#include "experiments/run/run.h"

namespace trigram {
namespace {

constexpr const char* kOutcome = "outcome.json";

Outcome make_and_write(const PlannedRun& run, const std::filesystem::path& folder,
                       std::atomic<long>& progress) {
  std::ofstream metrics(folder / "metrics.jsonl");
  metrics.exceptions(std::ios::badbit | std::ios::failbit);
  const RunOutput output{[&](const StepRecord& record) {
                           metrics << to_json(record).dump() << '\n';
                           progress.store(record.step + 1, std::memory_order_relaxed);
                         },
                         [&](const Json& timeline) {
                           std::ofstream file(folder / "trace.json");
                           file.exceptions(std::ios::badbit | std::ios::failbit);
                           file << timeline.dump() << '\n';
                         }};
  Json summary = make_run(run.experiment, *run.workload, output);
  metrics.close();
  return {.summary = std::move(summary)};
}

}  // namespace

int record_run(const PlannedRun& run, const std::filesystem::path& folder,
               std::atomic<long>& progress) {
  spdlog::info("run {}: {} in the world {}, {} ranks, {} steps", run.id,
               run.experiment.algorithm_entry().name, run.experiment.world().name,
               run.experiment.cluster.ranks(), run.experiment.steps);
  Outcome outcome;
  try {
    outcome = make_and_write(run, folder, progress);
  } catch (const HangError& error) {
    outcome = {.error = error.what(), .hang = true};
  } catch (const ConfigError& error) {
    outcome = {.error = error.what(), .refused = true};
  } catch (const std::exception& error) {
    outcome = {.error = error.what()};
  }
  if (!outcome.ok()) spdlog::error("{}", outcome.error);
  std::ofstream file(folder / kOutcome);
  file << Json{{"summary", outcome.summary},
               {"error", outcome.error},
               {"hang", outcome.hang},
               {"refused", outcome.refused}};
  if (outcome.ok()) return kOk;
  return outcome.hang ? kWatchdog : outcome.refused ? kBadInput : kRunFailed;
}

Outcome take_outcome(const std::filesystem::path& folder, int wait_status) {
  std::ifstream file(folder / kOutcome);
  const Json j = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  std::filesystem::remove(folder / kOutcome);
  if (WIFSIGNALED(wait_status))
    return {.error = fmt::format("the process was ended by signal {} ({})", WTERMSIG(wait_status),
                                 strsignal(WTERMSIG(wait_status)))};
  if (!j.is_object())
    return {.error = fmt::format("the process ended with code {} and without a result",
                                 WEXITSTATUS(wait_status))};
  return {j["summary"], j["error"].get<std::string>(), j["hang"].get<bool>(),
          j["refused"].get<bool>()};
}

}  // namespace trigram
