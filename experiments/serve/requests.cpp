#include "experiments/serve/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/config/config_error.h"
#include "core/config/units.h"
#include "core/files.h"
#include "core/workloads/profile.h"
#include "experiments/advise/question.h"
#include "experiments/results/durable.h"
#include "experiments/serve/access.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// The names, without .json, of the files in a folder of `configs/`.
std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(data_dir() / "configs" / folder, ignored))
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  return names;
}

std::set<std::string> experiments() {
  std::set<std::string> names = names_in("");
  names.erase("schema");
  return names;
}

/// The accelerators on which the profiles were measured, as clusters describe them.
Json accelerators() {
  Json list = Json::array();
  for (const std::string& name : built_in_profiles()) {
    const AcceleratorRates rates = load_profile(profile_file(name), "").measured_on;
    if (rates.name.empty() || rates.flops_per_s <= 0 || rates.memory_Bps <= 0) continue;
    Json found = {{"name", rates.name},
                  {"flops", format_quantity(rates.flops_per_s, Dimension::flop_rate)},
                  {"memory_bandwidth", format_quantity(rates.memory_Bps, Dimension::bandwidth)}};
    if (std::ranges::find(list, found) == list.end()) list.push_back(std::move(found));
  }
  return list;
}

std::string member_text(const Json& body, const char* member, bool required = true) {
  const std::string pointer = fmt::format("/{}", member);
  if (!body.is_object()) throw ConfigError("", "expected an object");
  if (!body.contains(member)) {
    if (required) throw ConfigError(pointer, "expected a text; it is missing");
    return {};
  }
  if (!body[member].is_string()) throw ConfigError(pointer, "expected a text");
  return body[member].get<std::string>();
}

/// The name of a sweep. Only letters, digits, `_`, `-` and dots: it becomes the name of a file.
std::string sweep_name(const Json& body) {
  const std::string name = member_text(body, "name");
  const bool plain = std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!plain || name.front() == '-' || name.size() > 64 || !is_sweep_name(name))
    throw ConfigError("/name",
                      "expected 1 to 64 letters, digits, _, - and dots, with a letter, a digit or "
                      "_ at the beginning");
  return name;
}

/// Writes `text` to folder/NAME.json, and returns the path.
std::string written(const fs::path& folder, const std::string& name, const std::string& text) {
  fs::create_directories(folder);
  const fs::path file = folder / (name + ".json");
  write_durably(file, text);
  return file.string();
}

}  // namespace

Json choices() {
  return {{"experiments", experiments()},
          {"clusters", names_in("clusters")},
          {"profiles", built_in_profiles()},
          {"accelerators", accelerators()}};
}

std::string experiment_text(const std::string& name) {
  if (!experiments().contains(name)) throw ConfigError("", "expected the name of an experiment");
  return read_text_file(data_dir() / "configs" / (name + ".json"));
}

Requested sweep_of(const Json& body, const fs::path& results, const fs::path& folder) {
  const std::string name = sweep_name(body);
  const std::string file = written(folder / "sweeps", name, member_text(body, "config"));
  return {{"run", file, "--set", "/name=" + name, "-o", results.string(), "--no-table"},
          "run " + name,
          name};
}

Requested question_of(const Json& body, const fs::path& results, const fs::path& folder) {
  Question question;
  question.profile = member_text(body, "profile");
  if (std::ranges::count(built_in_profiles(), question.profile) == 0)
    throw ConfigError("/profile", "expected the name of a profile");
  if (!body.contains("cluster")) throw ConfigError("/cluster", "expected a cluster; it is missing");
  const Json& cluster = body["cluster"];
  if (cluster.is_object()) {
    question.cluster = written(folder / "clusters", sweep_name(body), cluster.dump(2));
  } else {
    question.cluster = member_text(body, "cluster");
    if (!names_in("clusters").contains(question.cluster))
      throw ConfigError("/cluster", "expected a description or the name of a preset");
  }
  std::vector<std::string> words = {"advise",         "--cluster", question.cluster, "--profile",
                                    question.profile, "-o",        results.string()};
  if (const std::string target = member_text(body, "target", false); !target.empty()) {
    question.target = Target::parse(target);
    words.push_back("--target=" + target);
  }
  return {words, "advise for " + question.profile, question.name()};
}

}  // namespace trigram
