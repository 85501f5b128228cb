#include "algorithms/asynchronous/background_average.h"

#include "algorithms/execution/control_tag.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {

BackgroundAverage::BackgroundAverage(Context ctx, Run& run)
    : weights(run.workload.weights()),
      snapshot(ctx.device->empty_like(weights)),
      mean(ctx.device->empty_like(weights)),
      guard(ctx.stream->make_mutex()),
      steps(run.steps) {}

void BackgroundAverage::take_snapshot(Context c) {
  Lock lock(*guard);
  c.device->copy(snapshot, weights);
  taken_at = steps.current();
}

void BackgroundAverage::add_mean(Context c, const AllreduceSpec& kind) {
  c.device->copy(mean, snapshot);
  c_fp_s(c, mean, kind);
  c.device->axpby(-1, snapshot, 1, mean);
  Lock lock(*guard);
  c.device->axpby(1, mean, 1, weights);
  steps.record_staleness(steps.current() - taken_at);
}

bool agree(Context ctx, bool vote) {
  const int P = ctx.world_size;
  bool unanimous = vote;
  // In round k a rank receives from one rank only, and messages of one source stay in order, so the
  // vote of a neighbour that has already begun the next call cannot be mistaken for a vote of this
  // call.
  for (int tag = kAgreementRound0, distance = 1; distance < P; ++tag, distance *= 2) {
    ctx.control->post((ctx.world_rank + distance) % P, tag, unanimous);
    const auto received = ctx.control->receive(tag);
    unanimous = received && received->a != 0 && unanimous;
  }
  return unanimous;
}

}  // namespace trigram
