#include "experiments/advise/target.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>

#include "experiments/config/settings.h"

namespace trigram {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double time_to_accuracy_s(double accuracy, const std::filesystem::path& metrics) {
  std::ifstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    const Json step = Json::parse(line);
    const auto reached = step.find("accuracy");
    if (reached != step.end() && reached->is_number() && *reached >= accuracy)
      return step.at("time_s").get<double>();
  }
  return kNever;
}

}  // namespace

Target Target::parse(const std::string& text) {
  if (text == "throughput") return {};
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name != "accuracy") unknown_name("--target", "target", name, {"throughput", "accuracy"});
  const Json value = equals == std::string::npos ? Json() : parse_value(text.substr(equals + 1));
  if (!value.is_number() || value <= 0 || value > 1)
    throw ConfigError("--target", fmt::format("expected an accuracy above 0 and up to 1, as in "
                                              "accuracy=0.8, not \"{}\"",
                                              text));
  return {value.get<double>()};
}

std::string Target::text() const {
  return accuracy ? fmt::format("accuracy={}", *accuracy) : "throughput";
}

double cost_s(const Target& target, const Json& summary, const std::filesystem::path& folder) {
  if (target.accuracy) return time_to_accuracy_s(*target.accuracy, folder / "metrics.jsonl");
  const Json& samples_per_s = summary.at("samples_per_s");
  return samples_per_s.is_number() ? 1 / samples_per_s.get<double>() : kNever;
}

}  // namespace trigram
