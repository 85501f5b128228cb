#include "experiments/advise/target.h"

#include <fmt/format.h>

#include <limits>

#include "experiments/config/settings.h"

namespace trigram {

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

Pace pace(const Json& summary) {
  Pace all{summary.at("step_s").get<double>(), summary.at("samples_per_s")};
  const Json& steady = summary.at("steady");
  if (!steady.is_object() || !all.samples_per_s.is_number()) return all;
  const double step_s = steady.at("step_s").get<double>();
  return {step_s, all.samples_per_s.get<double>() * all.step_s / step_s};
}

double cost_s(const Target& target, const Json& summary) {
  const Json value =
      target.accuracy ? summary.at("target").at("time_s") : pace(summary).samples_per_s;
  if (!value.is_number()) return std::numeric_limits<double>::infinity();
  return target.accuracy ? value.get<double>() : 1 / value.get<double>();
}

}  // namespace trigram
