#include "experiments/advise/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/data_dir.h"
#include "core/workloads/profile_reference.h"
#include "experiments/cli/labels.h"
#include "experiments/cli/options_label.h"
#include "experiments/config/cluster_file.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

fs::path candidates_for(const Target& target) {
  return data_dir() / "configs" / (target.accuracy ? "advise_accuracy.json" : "advise.json");
}

/// A profile as it may be named from any folder.
std::string absolute_profile(const std::string& name) {
  const std::string path = path_in_reference(profile_reference().parse(name, "--profile"));
  return path.empty() ? name : "profile:" + fs::absolute(path).lexically_normal().string();
}

/// The name of the results' folder: "advise-ethernet_10g-bert_large".
std::string name_of(const Contest::Question& question) {
  const std::string path = path_in_reference(question.profile);
  std::string name = fmt::format("advise-{}-{}{}", fs::path(question.cluster).stem().string(),
                                 path.empty() ? question.profile : fs::path(path).stem().string(),
                                 question.target.accuracy ? "-accuracy" : "");
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !allowed(c); }, '_');
  return name;
}

std::vector<std::string> settings_of(const Contest::Question& question) {
  const ClusterFile file = read_cluster_file(question.cluster, "--cluster");
  parse_cluster(file.description, file.pointer);  // so that errors name the file's own places
  const std::string profile = absolute_profile(question.profile);
  std::vector<std::string> settings = {"/name=" + name_of(question),
                                       "/cluster=" + file.description.dump()};
  if (question.target.accuracy) {
    settings.push_back("/workload/priced_as=" + Json(profile).dump());
    settings.push_back(fmt::format("/target_accuracy={}", *question.target.accuracy));
  } else {
    settings.push_back("/workload=" + Json(profile).dump());
  }
  settings.insert(settings.end(), question.settings.begin(), question.settings.end());
  return settings;
}

/// A setting that gives a sweep one value more to go through, so that results say where they lie.
std::string as_axis(const std::string& pointer, const Json& value) {
  return child("/sweep", pointer) + "=" + Json::array({value}).dump();
}

/// Without where on the network they are.
Json own_coordinates(Json coordinates) {
  for (auto it = coordinates.begin(); it != coordinates.end();)
    it = it.key().starts_with("/cluster/") ? coordinates.erase(it) : std::next(it);
  return coordinates;
}

/// Only algorithms and what goes with them can be candidates.
void check_coordinates(const Json& coordinates) {
  for (const auto& [pointer, value] : coordinates.items())
    if (!pointer.starts_with("/algorithm") && !pointer.starts_with("/optimizer"))
      throw ConfigError(child("/sweep", pointer),
                        "candidates differ in /algorithm and /optimizer alone; expected this one "
                        "not swept");
}

std::string settings_label(const Json& coordinates) {
  std::string label = options_label(coordinates.value("/algorithm", Json()));
  for (const auto& [pointer, value] : coordinates.items()) {
    if (pointer == "/algorithm" || pointer == "/algorithm/name" || pointer == "/algorithm/mode")
      continue;
    const std::string options = options_label(value);
    const std::string key = pointer.substr(pointer.rfind('/') + 1);
    label += fmt::format("{}{}", label.empty() ? "" : " ",
                         options.empty() ? key + "=" + label_of(value) : options);
  }
  return label;
}

std::string label(const Candidate& c) {
  return c.settings.empty() ? c.name : c.name + " " + c.settings;
}

/// Whether a trigram, "sync, low, centralised", has a word.
bool has_word(const std::string& trigram, const std::string& word) {
  return (", " + trigram + ",").find(", " + word + ",") != std::string::npos;
}

void check_relaxations(const std::vector<std::string>& words) {
  const std::vector<std::string> known = {"sync", "async",       "full",
                                          "low",  "centralised", "decentralised"};
  for (const std::string& word : words)
    if (std::find(known.begin(), known.end(), word) == known.end())
      unknown_name("--only", "relaxation", word, known);
}

void check_algorithms(const std::vector<std::string>& names, const Plan& plan) {
  std::set<std::string> known;
  for (const PlannedRun& run : plan.runs) known.insert(run.experiment.algorithm_entry().name);
  for (const std::string& name : names)
    if (!known.contains(name))
      unknown_name("--algorithms", "candidate", name, {known.begin(), known.end()});
}

}  // namespace

Contest::Contest(const Question& question)
    : config_(question.candidates.empty() ? candidates_for(question.target) : question.candidates),
      settings_(settings_of(question)),
      target_(question.target) {
  std::vector<UnfitRun> unfit;
  const Plan plan = plan_fit_runs(config_, settings_, unfit);
  check_relaxations(question.relaxations);
  check_algorithms(question.algorithms, plan);
  cluster_ = plan.runs.front().resolved.at("cluster");
  if (!plan.runs.front().experiment.world().simulated)
    throw ConfigError("/runtime", "advice is from simulations; expected \"sim\"");
  for (const PlannedRun& run : plan.runs) add(run, question);
  leave_out_doubles(plan);
  for (const UnfitRun& run : unfit)
    left_out_.push_back(fmt::format("{}: {}", describe(run.coordinates), run.why.what()));
  if (candidates_.empty())
    throw ConfigError("--only", "no candidate is all of this; expected fewer words");
}

void Contest::add(const PlannedRun& run, const Question& question) {
  check_coordinates(run.coordinates);
  const AlgorithmEntry& entry = run.experiment.algorithm_entry();
  const auto& names = question.algorithms;
  if (!names.empty() && std::find(names.begin(), names.end(), entry.name) == names.end()) return;
  const std::string trigram = to_string(entry.trigram_of(run.experiment.algorithm));
  for (const std::string& word : question.relaxations)
    if (!has_word(trigram, word)) return;
  const Json manifest = {{"sweep", run.coordinates}, {"experiment", run.resolved}};
  candidates_.push_back(
      {run.coordinates, algorithm_label(manifest), settings_label(run.coordinates), trigram});
}

/// A node of one worker has no hierarchy: candidates that differ in that alone are one.
void Contest::leave_out_doubles(const Plan& plan) {
  std::map<std::string, std::string> first;
  for (const PlannedRun& run : plan.runs) {
    const auto candidate =
        std::find_if(candidates_.begin(), candidates_.end(),
                     [&run](const Candidate& c) { return c.coordinates == run.coordinates; });
    if (candidate == candidates_.end() || run.experiment.cluster.workers_per_node > 1) continue;
    Json key = run.resolved;
    key["algorithm"].erase("hierarchical");
    const auto [same, is_new] = first.try_emplace(key.dump(), label(*candidate));
    if (is_new) continue;
    left_out_.push_back(fmt::format("{}: the same as {} where nodes have one worker",
                                    label(*candidate), same->second));
    candidates_.erase(candidate);
  }
}

Plan Contest::plan(const Json& at, const std::vector<std::size_t>& candidates) const {
  std::vector<std::string> settings = settings_;
  for (const auto& [pointer, value] : at.items()) settings.push_back(as_axis(pointer, value));
  std::vector<UnfitRun> unfit;
  const Plan all = plan_fit_runs(config_, settings, unfit);
  Plan plan{all.name, {}};
  for (const std::size_t c : candidates) {
    const auto found = std::find_if(all.runs.begin(), all.runs.end(), [&](const PlannedRun& run) {
      return own_coordinates(run.coordinates) == candidates_[c].coordinates;
    });
    if (found == all.runs.end())
      throw ConfigError("/sweep", fmt::format("{} is not for the cluster at {}",
                                              label(candidates_[c]), describe(at)));
    plan.runs.push_back(*found);
  }
  return plan;
}

}  // namespace trigram
