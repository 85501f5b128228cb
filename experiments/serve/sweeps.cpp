#include "experiments/serve/sweeps.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/config/json_text.h"
#include "core/files.h"
#include "core/printable.h"
#include "experiments/process/analysis.h"
#include "experiments/results/run_folder.h"
#include "experiments/results/stored_run.h"
#include "experiments/serve/access.h"
#include "experiments/sha256.h"
#include "experiments/text/labels.h"
#include "experiments/version.h"

namespace trigram {

namespace fs = std::filesystem;

std::optional<fs::path> Sweeps::folder_of(const std::string& name) const {
  if (!is_sweep_name(name)) return std::nullopt;
  const fs::path folder = results_ / name;
  std::error_code ignored;
  // A link might lead out of the folder of results.
  if (fs::is_symlink(folder, ignored) || !fs::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

const Sweeps::State& Sweeps::state_of(const fs::path& run) {
  std::error_code error;
  // DONE is written last, so its time is that of the whole result.
  auto written = fs::last_write_time(run / "DONE", error);
  if (error) written = fs::last_write_time(run / "manifest.json", error);
  State& state = states_[run];
  if (!error && state.written == written && !state.state.empty()) return state;
  const StoredRun stored = read_stored_run(run, version().git);
  state = {error ? fs::file_time_type() : written, to_string(stored.state),
           describe(stored.manifest.is_object() ? stored.manifest.value("sweep", Json::object())
                                                : Json::object()),
           ""};
  if (stored.manifest.is_object()) state.error = printable(text_or_empty(stored.manifest, "error"));
  return state;
}

Sweeps::Counted Sweeps::count(const fs::path& sweep) {
  Counted counted;
  std::string ended;
  for (const fs::path& run : run_folders(sweep)) {
    if (is_unpublished(run)) {
      ++counted.runs[is_leftover(run) ? "interrupted" : "under way"];
      continue;
    }
    const State& state = state_of(run);
    ++counted.runs[state.state];
    ended +=
        fmt::format("{} {} ", run.filename().string(), state.written.time_since_epoch().count());
  }
  counted.version = Sha256().update(ended).hex().substr(0, 16);
  return counted;
}

Json Sweeps::list() {
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(results_, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto folder = folder_of(name);
    if (!folder) continue;
    const Counted counted = count(*folder);
    if (counted.runs.empty()) continue;
    Json sweep = {{"name", name}, {"version", counted.version}};
    for (const char* state : {"done", "failed", "stale", "partial", "under way", "interrupted"}) {
      const auto found = counted.runs.find(state);
      sweep[state] = found == counted.runs.end() ? 0 : found->second;
    }
    list.push_back(std::move(sweep));
  }
  std::sort(list.begin(), list.end(),
            [](const Json& a, const Json& b) { return a["name"] < b["name"]; });
  return list;
}

std::optional<Json> Sweeps::runs(const std::string& name, std::size_t most) {
  const auto folder = folder_of(name);
  if (!folder) return std::nullopt;
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  for (const fs::path& run : run_folders(*folder)) {
    if (list.size() == most) break;
    if (is_unpublished(run)) continue;
    const State& state = state_of(run);
    list.push_back({{"label", state.label}, {"state", state.state}, {"error", state.error}});
  }
  return list;
}

Sweeps::Report Sweeps::report(const std::string& name) {
  const auto folder = name.empty() ? std::optional(results_) : folder_of(name);
  if (!folder) return {"", "no such sweep"};
  std::string version;
  {
    const std::lock_guard lock(mutex_);
    version = count(*folder).version;
  }
  // One report at a time is made; whoever waits for it gets the same one.
  const std::lock_guard lock(report_mutex_);
  const fs::path page = reports_ / (Sha256().update(name).hex().substr(0, 32) + ".html");
  if (const auto made = versions_.find(name); made == versions_.end() || made->second != version) {
    const AnalysisOutput output =
        run_analysis({"report", fs::absolute(*folder).string(), "-o", page.string()}, "");
    if (!output.failure.empty()) return {"", printable(output.failure)};
    versions_[name] = version;
  }
  return {read_text_file(page), ""};
}

}  // namespace trigram
