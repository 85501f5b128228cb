#include "experiments/run/replay_times.h"

#include <algorithm>

#include "core/metering/meter.h"
#include "core/workloads/replay_workload.h"
#include "experiments/worlds.h"
#include "netmodels/machines.h"

namespace trigram {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The duration of one pass through one tensor's layer, in seconds.
template <class Pass>
double timed(const Context& ctx, Pass pass) {
  const double begin_s = ctx.stream->now();
  pass();
  ctx.stream->synchronize();
  return ctx.stream->now() - begin_s;
}

/// Seconds of every repetition, indexed by tensor.
struct Repetitions {
  std::vector<std::vector<double>> forward_s, backward_s;
};

Repetitions repeat(const Context& ctx, ReplayWorkload& replay, long steps) {
  const std::size_t tensors = replay.profile().tensors.size();
  Repetitions done{std::vector<std::vector<double>>(tensors),
                   std::vector<std::vector<double>>(tensors)};
  for (long step = -1; step < steps; ++step) {
    const auto note = [step](std::vector<double>& times, double seconds) {
      if (step >= 0) times.push_back(seconds);
    };
    for (std::size_t i = 0; i < tensors; ++i)
      note(done.forward_s[i], timed(ctx, [&] { replay.forward_tensor(ctx, i); }));
    for (std::size_t i = tensors; i-- > 0;)
      note(done.backward_s[i], timed(ctx, [&] { replay.backward_tensor(ctx, i); }));
  }
  return done;
}

std::vector<ReplayedLayer> layers_of(const Profile& profile, const Repetitions& done) {
  std::vector<ReplayedLayer> layers;
  for (std::size_t i = 0; i < profile.tensors.size(); ++i) {
    const ProfileTensor& row = profile.tensors[i];
    layers.push_back(
        {row.tensor,
         static_cast<double>(row.numel),
         {static_cast<double>(row.forward_flops.value()), row.forward_s, median(done.forward_s[i])},
         {static_cast<double>(row.backward_flops.value()), row.backward_s,
          median(done.backward_s[i])}});
  }
  return layers;
}

}  // namespace

std::vector<ReplayedLayer> replay_layers(const Experiment& e, const WorkloadFactory& factory,
                                         long steps) {
  std::vector<ReplayedLayer> layers;
  const auto machine = make_machine_model(e.cluster);
  auto runtime = e.world().make(e.runtime, e.cluster, factory);
  runtime->launch(e.cluster.layout(), [&](const Context& raw) {
    const auto meter = instrument(
        raw,
        {.phantom = !factory.has_values(), .machine = machine.get(), .steps = nullptr, .sink = {}});
    const Context ctx = meter->context();
    const auto workload = factory.make(ctx, static_cast<std::uint64_t>(e.seed));
    auto* const replay = dynamic_cast<ReplayWorkload*>(workload.get());
    if (replay == nullptr)
      throw ConfigError("/workload",
                        "expected one that replays a profile, such as {\"name\": "
                        "\"replay\", \"profile\": \"vgg16\"}");
    const Repetitions done = repeat(ctx, *replay, steps);
    if (raw.world_rank == 0) layers = layers_of(replay->profile(), done);
  });
  return layers;
}

}  // namespace trigram
