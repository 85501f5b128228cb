#include "experiments/run/checkpoint_match.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/config/config_error.h"

namespace trigram {
namespace {

/// The first place in which two descriptions differ.
std::string difference(const Json& a, const Json& b, const std::string& pointer = "") {
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items())
      if (!b.contains(key) || b[key] != value)
        return difference(value, b.value(key, Json()), child(pointer, key));
    for (const auto& [key, value] : b.items())
      if (!a.contains(key)) return difference(Json(), value, child(pointer, key));
  }
  return fmt::format("{} is {} in the checkpoint and {} here", pointer.empty() ? "/" : pointer,
                     a.dump(), b.dump());
}

}  // namespace

Json description_of(const Experiment& e) {
  Json json = experiment_fields("").dump(e);
  for (const char* field : {"name", "description", "timeline", "checkpoint"}) json.erase(field);
  return json;
}

void check_same_run(const Experiment& e, const CheckpointFolder& folder) {
  const Json own = description_of(e);
  for (const long step : folder.steps()) {
    Json about;
    try {
      about = folder.about(step);
    } catch (const OtherFormat& error) {
      throw ConfigError("--resume", error.what());
    } catch (const std::runtime_error&) {
      continue;  // damaged, so that it will not be used
    }
    if (about != own)
      throw ConfigError("--resume", fmt::format("the checkpoint of step {} is of another run: {}",
                                                step, difference(about, own)));
  }
}

void check_same_training(const Experiment& e, const std::filesystem::path& place) {
  const auto refuse = [](const std::string& why) { throw ConfigError("--resume-from", why); };
  const CheckpointFolder folder(place);
  const std::vector<long> steps = folder.steps();
  if (steps.empty())
    refuse(fmt::format("expected a folder ID.checkpoints with a checkpoint, not {}",
                       shortened(place.string())));
  Json own = description_of(e), about;
  for (const long step : steps) {
    try {
      about = folder.about(step);
      break;
    } catch (const std::runtime_error& error) {  // an earlier checkpoint may be used
      if (step == steps.back()) refuse(error.what());
    }
  }
  for (Json* json : {&own, &about})
    for (const char* field : {"cluster", "runtime", "steps", "eval_every", "target_accuracy",
                              "target_loss", "gradient_noise", "until_steady"})
      json->erase(field);
  if (about != own)
    refuse(fmt::format("the checkpoint of step {} is of another training: {}", steps.front(),
                       difference(about, own)));
  if (steps.front() >= e.steps)
    refuse(fmt::format("the checkpoint is of step {}; expected more than {} steps, not {}",
                       steps.front(), steps.front(), e.steps));
}

}  // namespace trigram
