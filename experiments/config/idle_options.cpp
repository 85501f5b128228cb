#include "experiments/config/idle_options.h"

#include <algorithm>

#include "experiments/config/jobs.h"

namespace trigram {
namespace {

/// Removes the option. Returns false if the configuration does not contain it.
bool remove_option(Json& config, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  if (!config.contains(place)) return false;
  config[place.parent_pointer()].erase(place.back());
  return true;
}

}  // namespace

IdleOptions::Origin IdleOptions::origin(const SweepPoint& point, const std::string& pointer) {
  Json values = Json::object();
  for (const auto& [swept, value] : point.coordinates.items())
    if ((pointer + "/").starts_with(swept + "/")) values[swept] = value;
  if (given_by_job(point, pointer)) values["job"] = point.job;
  return {pointer, values.dump()};
}

Experiment IdleOptions::parse(const FieldTable<Experiment>& fields, SweepPoint& point) {
  for (;;) {
    try {
      return fields.parse(point.config, "");
    } catch (const ConfigError& error) {
      for (const Mistake& mistake : error.mistakes())
        if (mistake.kind != Mistake::Kind::without_effect ||
            !remove_option(point.config, mistake.pointer))
          throw;
      for (const Mistake& mistake : error.mistakes())
        idle_.emplace(origin(point, mistake.pointer),
                      in_job(ConfigError({mistake}), point).mistakes().front());
    }
  }
}

void IdleOptions::check(const std::vector<SweepPoint>& points) const {
  Mistakes mistakes;
  for (const auto& [option, mistake] : idle_) {
    const Json::json_pointer pointer(option.first);
    if (std::ranges::none_of(points, [&](const SweepPoint& point) {
          return point.config.contains(pointer) && origin(point, option.first) == option;
        }))
      mistakes.add(ConfigError({mistake}));
  }
  mistakes.raise();
}

}  // namespace trigram
