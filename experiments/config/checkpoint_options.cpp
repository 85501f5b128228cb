#include "experiments/config/checkpoint_options.h"

#include <fmt/format.h>

#include "experiments/config/experiment.h"

namespace trigram {
namespace {

/// Every part of a run of an asynchronous algorithm has streams of its own, at most three, and a
/// world limits the streams of a rank to 1023.
constexpr std::int64_t kMostAsynchronousParts = 300;

FieldTable<CheckpointOptions> checkpoint_fields() {
  using C = CheckpointOptions;
  return FieldTable<C>{}
      .required("every", &C::every, integer(1, 100'000'000),
                "Steps from one checkpoint to the next.")
      .field("keep", &C::keep, integer(1, 1000), "How many checkpoints to keep, the latest ones.")
      .field("write_bandwidth", &C::write_Bps, optional(quantity(Dimension::bandwidth, true)),
             "Simulated speed at which each rank writes its state; by default, writing takes no "
             "simulated time.");
}

}  // namespace

OptionType<std::optional<CheckpointOptions>> checkpoint_options() {
  return optional(nested(checkpoint_fields()));
}

void check_checkpoint(const Experiment& e) {
  if (!e.checkpoint) return;
  const auto refuse = [](const char* field, const std::string& why) {
    throw ConfigError(child("/checkpoint", field), why);
  };
  if (e.until_steady)
    throw ConfigError("/checkpoint",
                      "a run that ends once its steps repeat is too short to be continued; "
                      "remove this option, or until_steady");
  if (e.autotune)
    throw ConfigError("/checkpoint",
                      "the search for bucket sizes cannot be continued; remove this option, or "
                      "autotune");
  if (e.checkpoint->write_Bps && !e.world().simulated)
    refuse("write_bandwidth",
           fmt::format("writing takes the time that it takes in the world \"{}\"; remove it",
                       e.world().name));
  if (!e.synchronous() && e.steps / e.checkpoint->every > kMostAsynchronousParts)
    refuse("every", fmt::format("expected at least {}, which gives {} checkpoints of this "
                                "asynchronous algorithm, the most that a run can have, not {}",
                                (e.steps + kMostAsynchronousParts) / kMostAsynchronousParts,
                                kMostAsynchronousParts, e.checkpoint->every));
}

}  // namespace trigram
