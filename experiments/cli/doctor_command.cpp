// `doctor`: what this build and this machine have, what they lack, and how to get it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/config/option_type.h"
#include "experiments/cli/commands.h"
#include "experiments/doctor/checks.h"
#include "experiments/exit_codes.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

Json checks_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    Json j = {{"group", check.group},
              {"name", check.name},
              {"present", check.present},
              {"detail", check.detail}};
    if (!check.present) {
      j["remedy"] = check.remedy;
      j["packages"] = check.packages;
    }
    list.push_back(std::move(j));
  }
  return {{"checks", list}};
}

/// The packages of all checks that are not present, each of them once.
std::string missing_packages(const std::vector<Check>& checks) {
  std::string all;
  for (const Check& check : checks)
    if (!check.packages.empty() &&
        (" " + all + " ").find(" " + check.packages + " ") == std::string::npos)
      all += (all.empty() ? "" : " ") + check.packages;
  return all;
}

void print_checks(const std::vector<Check>& checks) {
  std::vector<std::vector<std::string>> lines;
  std::string group;
  for (const Check& check : checks) {
    if (check.group != group) lines.push_back({check.group, "", ""});
    group = check.group;
    lines.push_back({"  " + check.name, check.present ? "yes" : "no", check.detail});
  }
  fmt::print("{}", aligned(lines, 3));
  std::vector<std::vector<std::string>> missing;
  for (const Check& check : checks)
    if (!check.present && !check.remedy.empty())
      missing.push_back({"  " + check.name, check.remedy});
  if (missing.empty()) return;
  fmt::print("\nmissing, and how to get it; everything else works without it\n{}",
             aligned(missing, 2));
  if (const std::string packages = missing_packages(checks); !packages.empty())
    fmt::print("on Debian or Ubuntu: apt-get install {}\n", packages);
}

}  // namespace

void add_doctor_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "doctor", "Say what this build and this machine have, what is missing and how to get it");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json, &action] {
    action = [json] {
      const std::vector<Check> checks = examine();
      if (*json) fmt::print("{}\n", checks_json(checks).dump(2));
      else print_checks(checks);
      return kOk;
    };
  });
}

}  // namespace trigram
