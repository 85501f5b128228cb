// `why`: says what bounds a step, and which settings make the difference between two runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/files.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/config/config_file.h"
#include "experiments/config/settings.h"
#include "experiments/exit_codes.h"
#include "experiments/process/analysis.h"
#include "experiments/results/durable.h"
#include "experiments/run/shortfall.h"
#include "experiments/sha256.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDifferences = 16;
constexpr std::int64_t kMostRanks = 1024;  // that a timeline can record

struct WhyOptions {
  std::vector<std::string> runs;
  std::vector<std::string> settings;
  SweepRunner::Options runner;
  bool as_json = false;
};

/// A setting in which two experiments differ, and the run of the first experiment with the setting
/// of the second; empty if that is no valid experiment.
struct Difference {
  std::string pointer;
  Json first, second;
  std::optional<PlannedRun> alone = {};
  std::string why_not = {};
};

bool is_other_component(const Json& a, const Json& b) {
  return std::ranges::any_of(std::vector<std::string>{"name", "kind"}, [&](const std::string& key) {
    return a.value(key, Json()) != b.value(key, Json());
  });
}

/// Appends the places in which two resolved experiments differ. Of components with different names,
/// the whole component is one.
void find_differences(const Json& a, const Json& b, const std::string& pointer,
                      std::vector<Difference>& found) {
  if (a == b) return;
  if (!a.is_object() || !b.is_object() || (!pointer.empty() && is_other_component(a, b))) {
    found.push_back({pointer, a, b});
    return;
  }
  std::vector<std::string> keys;
  for (const Json* object : {&a, &b})
    for (const auto& [key, value] : object->items())
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  for (const std::string& key : keys)
    find_differences(a.value(key, Json()), b.value(key, Json()), child(pointer, key), found);
}

/// Plans runs of experiments in a folder of their own, so that one step of all ranks is recorded.
class StepPlanner {
 public:
  explicit StepPlanner(const fs::path& folder) : folder_(folder) {}

  PlannedRun plan(Json experiment) const {
    for (const char* key : {"sweep", "zip", "tune", "checkpoint", "target_accuracy", "target_loss"})
      experiment.erase(key);
    experiment["name"] = folder_.filename().string();
    experiment.erase("timeline");
    PlannedRun run = plan_of(experiment);
    const long shown = shown_step(run.experiment);
    experiment["timeline"] = {
        {"step", shown},
        {"ranks", std::min<std::int64_t>(run.experiment.cluster.ranks(), kMostRanks)}};
    return plan_of(experiment);
  }

 private:
  PlannedRun plan_of(const Json& experiment) const {
    const fs::path file = folder_ / "experiment.json";
    write_durably(file, experiment.dump(2) + "\n");
    Plan plan = make_plan(file, {});
    if (!plan.runs.front().experiment.world().simulated)
      throw ConfigError("/runtime", "steps are explained by simulation; expected \"sim\"");
    return std::move(plan.runs.front());
  }

  fs::path folder_;
};

/// The experiment of a finished run, given its folder, or of a file, which must describe one run.
Json experiment_of(const std::string& name, const std::vector<std::string>& settings) {
  const fs::path manifest = fs::path(name) / "manifest.json";
  if (std::error_code ignored; !fs::is_directory(name, ignored)) {
    const Plan plan = make_plan(name, settings);
    if (plan.runs.size() > 1)
      throw ConfigError(name, fmt::format("describes {} runs; expected one, or the folder of a "
                                          "finished run",
                                          plan.runs.size()));
    return plan.runs.front().resolved;
  }
  if (std::error_code ignored; !fs::is_regular_file(manifest, ignored))
    throw ConfigError(shortened(name),
                      "expected the folder of one run, results/NAME/ID, or an "
                      "experiment");
  Json j = read_config_file(manifest);
  if (!j.is_object() || !j.value("experiment", Json()).is_object())
    throw ConfigError(manifest.string(), "expected the manifest of a run");
  Json experiment = j.at("experiment");
  apply_settings(experiment, settings, fs::current_path());
  return experiment;
}

/// What makes the difference between two runs: each setting alone.
class Comparison {
 public:
  Comparison(const StepPlanner& planner, const Json& first, const Json& second) {
    Json a = first, b = second;
    for (Json* j : {&a, &b})
      for (const char* key : {"name", "description", "timeline", "$schema"}) j->erase(key);
    find_differences(a, b, "", differences);
    for (Difference& d : differences) {
      if (differences.size() > kMostDifferences || differences.size() == 1) break;
      Json changed = first;
      if (d.second.is_null()) changed[Json::json_pointer(d.pointer)] = nullptr;
      else changed[Json::json_pointer(d.pointer)] = d.second;
      try {
        d.alone = planner.plan(without_nulls(changed, d));
      } catch (const ConfigError& error) {
        d.why_not = error.mistakes().front().text();
      }
    }
  }

  std::vector<Difference> differences;

 private:
  /// A setting that the second experiment lacks is removed from the first.
  static Json without_nulls(Json changed, const Difference& d) {
    if (!d.second.is_null()) return changed;
    const Json::json_pointer at(d.pointer);
    changed[at.parent_pointer()].erase(at.back());
    return changed;
  }
};

double step_s(const SweepRunner& runner, const PlannedRun& run) {
  const StoredRun stored = runner.stored(run);
  return stored.state == StoredRun::done ? stored.manifest.at("summary").at("step_s").get<double>()
                                         : 0;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_object() && value.contains("name")) return value.at("name").get<std::string>();
  return shortened(value.is_string() ? value.get<std::string>() : value.dump());
}

Json differences_json(const std::vector<Difference>& differences, const SweepRunner& runner,
                      double first_s, double second_s) {
  Json all = Json::array();
  for (const Difference& d : differences) {
    const bool only = differences.size() == 1;
    const double alone_s = only ? second_s : d.alone ? step_s(runner, *d.alone) : 0;
    Json j = {{"setting", d.pointer},
              {"a", d.first},
              {"b", d.second},
              {"step_s", nullptr},
              {"why_not", d.why_not}};
    if (alone_s > 0) {
      j["step_s"] = alone_s;
      j["change_s"] = alone_s - first_s;
    }
    all.push_back(std::move(j));
  }
  return all;
}

std::string differences_text(const Json& differences, double first_s, double second_s) {
  if (differences.empty()) return "the experiments do not differ\n";
  std::vector<std::vector<std::string>> lines = {
      {"setting", "A", "B", "step if only this changes (ms)", "change"}};
  std::string notes, idle;
  for (const Json& d : differences) {
    const bool known = d.at("step_s").is_number();
    const double change = known ? d.at("change_s").get<double>() / first_s : 0;
    lines.push_back({d.at("setting"), value_text(d.at("a")), value_text(d.at("b")),
                     known ? fmt::format("{:.4g}", 1e3 * d.at("step_s").get<double>()) : "-",
                     known ? fmt::format("{:+.1f} %", 100 * change) : "-"});
    if (const std::string why = d.at("why_not"); !why.empty())
      notes += fmt::format("{} cannot change alone: {}\n", d.at("setting").get<std::string>(), why);
    if (known && std::abs(change) < 1e-6)
      idle += fmt::format("{}{}", idle.empty() ? "" : ", ", d.at("setting").get<std::string>());
  }
  std::string text =
      fmt::format(
          "mean of the steps: A {:.4g} ms, B {:.4g} ms, {:+.1f} %; what bounds them is "
          "shown for one step of each\n",
          1e3 * first_s, 1e3 * second_s, 100 * (second_s / first_s - 1)) +
      aligned(lines, 3) + notes;
  if (!idle.empty()) text += "makes no difference here: " + idle + "\n";
  if (differences.size() > kMostDifferences)
    text += fmt::format("{} settings differ, too many to try each alone; at most {} are tried\n",
                        differences.size(), kMostDifferences);
  return text + "\n";
}

int why(const WhyOptions& options, bool quiet) {
  std::vector<Json> experiments;
  for (const std::string& name : options.runs)
    experiments.push_back(experiment_of(name, options.settings));
  const std::string hash = Sha256().update(Json(experiments).dump()).hex().substr(0, 6);
  const fs::path folder = options.runner.output / ("why-" + hash);
  check_writable(folder);
  const StepPlanner planner(folder);
  Plan plan{folder.filename().string(), {}};
  for (const Json& experiment : experiments) plan.runs.push_back(planner.plan(experiment));
  std::vector<Difference> differences;
  if (experiments.size() == 2)
    differences = Comparison(planner, plan.runs[0].resolved, plan.runs[1].resolved).differences;
  std::vector<PlannedRun> explained = plan.runs;
  const auto add = [&plan](const PlannedRun& run) {
    if (std::ranges::find(plan.runs, run.id, &PlannedRun::id) == plan.runs.end())
      plan.runs.push_back(run);
  };
  if (explained.size() == 2 && explained[0].id == explained[1].id) plan.runs.pop_back();
  for (const Difference& d : differences)
    if (d.alone) add(*d.alone);
  SweepRunner runner(plan, options.runner, quiet);
  if (const int code = runner.run(); code != kOk) return code;
  std::vector<std::string> words = {"why"};
  if (options.as_json) words.emplace_back("--json");
  for (const PlannedRun& run : explained) words.push_back((folder / run.id).string());
  const AnalysisOutput path = run_analysis(words, "");
  if (!path.failure.empty()) throw std::runtime_error(path.failure);
  const double first_s = step_s(runner, explained.front()),
               second_s = step_s(runner, explained.back());
  const Json changes = differences_json(differences, runner, first_s, second_s);
  if (options.as_json) {
    Json j = Json::parse(path.out);
    j["differences"] = changes;
    fmt::print("{}\n", j.dump(2));
  } else {
    if (explained.size() == 2) fmt::print("{}", differences_text(changes, first_s, second_s));
    fmt::print("{}", path.out);
  }
  return kOk;
}

}  // namespace

void add_why_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command =
      app.add_subcommand("why", "Say what bounds a step, or which settings make two runs differ");
  command
      ->add_option("runs", options->runs,
                   "One or two runs: experiments, or folders of finished runs, results/NAME/ID")
      ->required()
      ->expected(1, 2);
  add_output_option(*command, options->runner);
  add_jobs_option(*command, options->runner);
  add_set_option(*command, options->settings);
  command->add_flag("-f,--force", options->runner.force, "Repeat finished runs, too");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([options, &global, &action] {
    action = [options, &global] { return why(*options, global.quiet); };
  });
}

}  // namespace trigram
