#include "experiments/advise/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "core/files.h"
#include "core/workloads/profile.h"
#include "core/workloads/registry.h"
#include "experiments/config/cluster_file.h"
#include "experiments/config/config_file.h"
#include "experiments/config/settings.h"
#include "experiments/sha256.h"
#include "netmodels/cluster.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// The workload and its length, if the candidates' experiment trains no model that learns.
constexpr const char* kTrained = "fashion_mnist";
constexpr int kTrainingSteps = 200, kEvalEvery = 1;

/// The profile's name; the path of a profile in a file becomes absolute.
std::string absolute_profile(const std::string& name) {
  const std::string path = path_in_reference(profile_reference().parse(name, "--profile"));
  return path.empty() ? name : "profile:" + fs::absolute(path).lexically_normal().string();
}

/// The options that adapt the profile to the cluster's accelerator.
Json adaptation(const Question& question) {
  Json options = Json::object();
  if (question.step_s)
    options["step_time"] = format_quantity(*question.step_s, Dimension::duration);
  else options["accelerator"] = "cluster";
  if (question.batch) options["batch"] = *question.batch;
  return options;
}

/// True if the experiment's workload is a model that learns, which can be priced as a profile.
bool learns(const fs::path& experiment) {
  const Json config = read_config_file(experiment);
  if (!config.is_object() || !config.contains("workload")) return false;
  const Json resolved =
      resolve_workload(config.at("workload"), "/workload", experiment.parent_path());
  const auto& entry = find_component(workloads(), "workload", resolved, "/workload");
  return entry.schema().at("properties").contains("priced_as");
}

/// Adds the settings of a run that trains to the question's level with the timing of `profile`. The
/// candidates' experiment may have a target of its own, which does not count.
void add_training_settings(const Question& question, const std::string& profile,
                           std::vector<std::string>& settings) {
  if (question.replaces_workload()) {
    settings.push_back(fmt::format("/workload={}", Json{{"name", kTrained}}.dump()));
    settings.push_back(fmt::format("/steps={}", kTrainingSteps));
    settings.push_back(fmt::format("/eval_every={}", kEvalEvery));
    settings.emplace_back("/until_steady=false");
  }
  settings.push_back("/workload/priced_as=" + Json(profile).dump());
  settings.push_back("/workload/priced_with=" + adaptation(question).dump());
  const TargetLevel& level = *question.target.level;
  const Json config = read_config_file(question.candidates_file());
  for (const std::string& name : TargetLevel::names())
    if (const std::string option = "target_" + name;
        option != level.option() && config.contains(option))
      settings.push_back(fmt::format("/{}=null", option));
  settings.push_back(fmt::format("/{}={}", level.option(), level.level));
}

}  // namespace

fs::path Question::candidates_file() const {
  return candidates.empty() ? data_dir() / "configs" / "advise.json" : candidates;
}

std::string Question::name() const {
  const std::string path = path_in_reference(profile);
  std::string name = fmt::format("advise-{}-{}", fs::path(cluster).stem().string(),
                                 path.empty() ? profile : fs::path(path).stem().string());
  if (target.level) name += fmt::format("-{}{}", target.level->name(), target.level->level);
  if (step_s) name += "-" + format_quantity(*step_s, Dimension::duration);
  if (batch) name += fmt::format("-batch{}", *batch);
  if (!failures.none())
    name += "-mtbf" + format_quantity(failures.node_mtbf_s, Dimension::duration);
  name += hash_suffix();
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  std::ranges::replace_if(name, std::not_fn(allowed), '_');
  return name;
}

std::string Question::hash_suffix() const {
  const std::string path = path_in_reference(profile);
  std::error_code ignored;  // unreadable files are reported where they are used
  const bool is_preset = !fs::exists(cluster, ignored);
  if (is_preset && path.empty() && settings.empty()) return "";
  const Json content = {is_preset ? Json() : read_cluster_file(cluster, "--cluster").description,
                        fs::is_regular_file(path, ignored) ? sha256_of_file(path) : "", settings};
  constexpr std::size_t kDigits = 6;
  return "-" + Sha256().update(content.dump()).hex().substr(0, kDigits);
}

std::vector<std::string> Question::all_settings() const {
  const ClusterFile file = read_cluster_file(cluster, "--cluster");
  file.cluster();  // throws errors that name places in that file
  const std::string reference = absolute_profile(profile);
  std::vector<std::string> all = {"/name=" + name(), "/cluster=" + file.description.dump()};
  if (target.level) {
    add_training_settings(*this, reference, all);
  } else {
    Json workload = adaptation(*this);
    workload["name"] = reference;
    all.push_back("/workload=" + workload.dump());
  }
  all.insert(all.end(), settings.begin(), settings.end());
  if (!rows.empty()) {
    all.emplace_back("/sweep={}");
    all.push_back("/zip=" + Json(rows).dump());
  }
  return all;
}

bool Question::sets(const std::string& pointer) const {
  return std::ranges::any_of(
      settings, [&](const std::string& setting) { return setting.starts_with(pointer + "="); });
}

bool Question::replaces_workload() const { return !learns(candidates_file()); }

std::vector<std::string> Question::ignored_option_warnings() const {
  if (!target.level) return {};
  const Json config = read_config_file(candidates_file());
  const std::string trained = replaces_workload() ? kTrained : "the candidates' model";
  std::vector<std::string> warnings;
  if (batch)
    warnings.push_back(fmt::format(
        "--batch {} only sets the time of a step: {} is trained with its own mini-batches, so what "
        "a larger batch learns per step is not counted",
        *batch, trained));
  if (!candidates.empty() && config.contains("steps") && config.at("steps") != kTrainingSteps &&
      !sets("/steps") && replaces_workload())
    warnings.push_back(
        fmt::format("/steps of {} is ignored: runs that train {} have {} steps; --set /steps=N "
                    "changes that",
                    candidates.string(), trained, kTrainingSteps));
  return warnings;
}

std::vector<std::string> Question::failure_assumptions() const {
  if (failures.none()) return {};
  const auto text = [](double seconds) { return format_quantity(seconds, Dimension::duration); };
  const std::string every = failures.every > 0
                                ? fmt::format("every {} steps", failures.every)
                                : "as often as Young's rule says (--checkpoint-every sets it)";
  return {fmt::format(
      "when a node fails, its workers are back {} later (--detection, --restart). Algorithms that "
      "carry on without them write no checkpoints, and the others do not wait; every other "
      "algorithm begins again at its last checkpoint then, which takes {} (--checkpoint-time) and "
      "is written {}",
      text(failures.detection_s + failures.restart_s), text(failures.checkpoint_s), every)};
}

KeptChanges Question::kept() const {
  KeptChanges kept;
  for (const std::string& text : settings) {
    const auto [pointer, value] = parse_setting(text);
    kept.credit |= pointer == "/cluster/inter/shaping/initial" ||
                   (pointer == "/cluster/inter/shaping" && value.contains("initial"));
    kept.changes |= (pointer + "/").starts_with("/cluster/inter/profile/");
  }
  return kept;
}

void check_relaxations(const std::vector<std::string>& words) {
  const std::vector<std::string> known = {"sync", "async",       "full",
                                          "low",  "centralised", "decentralised"};
  for (const std::string& word : words)
    if (std::ranges::find(known, word) == known.end())
      unknown_name("--only", "relaxation", word, known);
}

}  // namespace trigram
