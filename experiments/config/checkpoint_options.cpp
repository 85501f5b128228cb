#include "experiments/config/checkpoint_options.h"

#include <fmt/format.h>

#include "experiments/config/experiment.h"

namespace trigram {
namespace {

/// Checks that the state can be kept in the memory of other nodes.
void check_copies(const Experiment& e) {
  if (!e.checkpoint->keeps_copies()) return;
  const auto refuse = [](const std::string& why) {
    throw ConfigError("/checkpoint/memory_every", why);
  };
  if (!e.world().simulated)
    refuse(
        fmt::format("only the simulated world keeps copies in memory: in the world \"{}\", "
                    "restarted processes have lost it; remove this option",
                    e.world().name));
  if (e.cluster.nodes < 2)
    refuse("the state is copied to another node; expected two or more /cluster/nodes");
  if (e.checkpoint->every % e.checkpoint->memory_every != 0 ||
      e.checkpoint->memory_every == e.checkpoint->every)
    refuse(fmt::format("expected less than /checkpoint/every, {}, and a divisor of it",
                       e.checkpoint->every));
  if (!node_changes(e.cluster.failures).empty())
    refuse(
        "copies are for a fixed number of nodes; expected no events of the kind \"leave\" or "
        "\"join\", or no copies");
}

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
             "simulated time.")
      .field("read_bandwidth", &C::read_Bps, optional(quantity(Dimension::bandwidth, true)),
             "Simulated speed at which each rank reads its state when all workers restart; by "
             "default, reading takes no time beside `restart`.")
      .field("memory_every", &C::memory_every,
             dumped_if(integer(1, 100'000'000), [](std::int64_t steps) { return steps > 0; }),
             "Steps from one copy of the state in the memory of the next node to the next copy, in "
             "simulated runs; by default there are none.");
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
  if (e.checkpoint->read_Bps && !e.world().simulated)
    refuse("read_bandwidth",
           fmt::format("reading takes the time that it takes in the world \"{}\"; remove it",
                       e.world().name));
  check_copies(e);
  if (!e.synchronous() && e.steps / e.checkpoint->interval() > kMostAsynchronousParts)
    refuse(e.checkpoint->keeps_copies() ? "memory_every" : "every",
           fmt::format("expected at least {}, which gives {} checkpoints of this "
                       "asynchronous algorithm, the most that a run can have, not {}",
                       (e.steps + kMostAsynchronousParts) / kMostAsynchronousParts,
                       kMostAsynchronousParts, e.checkpoint->interval()));
}

}  // namespace trigram
