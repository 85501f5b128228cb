#include "algorithms/membership/group_average.h"

#include <memory>
#include <optional>
#include <utility>

#include "algorithms/asynchronous/model_averager.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/execution/steps.h"
#include "algorithms/membership/members.h"
#include "algorithms/primitives/primitives.h"
#include "core/subset.h"

namespace trigram {

Exchange average_among(std::vector<int> members, const AllreduceSpec& allreduce) {
  return [members = std::move(members), allreduce](Context c, const Tensor& x, Slot) {
    Subset group(*c.comm, members);
    c_fp_s(c.with(group), x, allreduce);
  };
}

Exchange weighted_average_among(std::vector<int> members, const AllreduceSpec& allreduce, float w,
                                Merge merge) {
  const bool radial = merge == Merge::radial;
  return [members = std::move(members), allreduce, w, radial](Context c, const Tensor& x, Slot) {
    Device& device = *c.device;
    Subset subset(*c.comm, members);
    const Context group = c.with(subset);
    const float length = radial ? static_cast<float>(device.norm2(x)) : 1;
    device.axpby(length > 0 ? w / length : 0, x, 0, x);
    c_fp_s(group, x, allreduce);
    const Tensor sums = device.empty(2);  // of w_i |d_i| and w_i, divided by K like x
    device.upload(sums, std::vector<float>{w * length, w});
    recursive_doubling_allreduce(group, sums, Reduce::avg);
    const std::vector<float> sum = device.download(sums);  // empty for a phantom
    const float norm = radial ? static_cast<float>(device.norm2(x)) : 1;
    // The mean direction gets the mean length, which cancels w; a mean of w_i d_i is divided by w.
    const float scale = sum.empty() ? 0 : (radial ? sum[0] : 1) / sum[1];
    device.axpby(norm > 0 ? scale / norm : 0, x, 0, x);
  };
}

void train_with_quorum(Context ctx, Run& run, long sync_every, const Quorum& quorum,
                       const std::function<Exchange(std::vector<int> members)>& average,
                       const OuterStep* outer) {
  auto comm = ctx.stream->fork("comm");
  const Tensor weights = run.workload.weights(), start = run.state.copy_of(ctx, "start", weights);
  const Tensor momentum = outer ? run.state.zeros_like(ctx, "momentum", weights) : Tensor();
  Members members(ctx, run,
                  {.quorum = static_cast<int>(quorum.workers), .grace_s = quorum.grace_s});
  for (long t : run.steps) {
    if (!members.present(ctx)) continue;
    local_step(ctx, run);
    if ((t + 1) % sync_every != 0) continue;
    const auto group = members.arrive(ctx, t / sync_every);
    if (!group) {
      ctx.device->copy(weights, start);
      continue;
    }
    exchange_on(*comm, ctx, run, weights, average(*group));
    if (outer) {
      ctx.device->axpby(1, start, -1, weights);  // x_0 - x_H
      outer_step(*ctx.device, *outer, weights, start, momentum);
      ctx.device->copy(weights, start);
    } else ctx.device->copy(start, weights);
  }
  members.finish(ctx);
}

void train_in_groups(Context ctx, Run& run,
                     std::function<std::vector<int>(int index, int count, long round)> group,
                     const std::function<DueRounds(long step)>& due,
                     const AllreduceSpec& allreduce) {
  auto comm = ctx.stream->fork("comm");
  Members members(ctx, run, {.group = std::move(group)});
  for (long t : run.steps) {
    if (!members.present(ctx)) continue;
    local_step(ctx, run);
    const DueRounds rounds = due(t);
    for (long round = rounds.first; round < rounds.end; ++round)
      exchange_on(*comm, ctx, run, run.workload.weights(),
                  average_among(*members.arrive(ctx, round), allreduce));
  }
  members.finish(ctx);
}

void train_in_background_groups(
    Context ctx, Run& run, std::function<std::vector<int>(int index, int count, long round)> group,
    const std::function<DueRounds(long step)>& due) {
  const auto averager = std::make_shared<ModelAverager>(ctx, run, std::vector<int>{}, std::nullopt);
  Members members(ctx, run, {.group = std::move(group), .background = true},
                  {.average = [averager](Context c, int partner) { averager->average(c, partner); },
                   .restart = [averager](Context c) { averager->model.restart(c); }});
  for (long t : run.steps) {
    if (!members.present(ctx)) continue;
    averager->model.step(ctx, run);
    const DueRounds rounds = due(t);
    for (long round = rounds.first; round < rounds.end; ++round) {
      members.wait_for_average(ctx);
      members.announce(round);
    }
  }
  members.wait_for_average(ctx);
  members.finish(ctx);
  averager->model.refresh_weights(ctx);
}

}  // namespace trigram
