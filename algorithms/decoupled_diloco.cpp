// Decoupled DiLoCo: workers exchange one fragment of the model at a time with those that are there
// in time, and merge their changes by direction and length (Google DeepMind, arXiv 2604.21428).
//
//   every step t:  x_i = x_i - lr U(g_i(x_i));  if t = (p + 1) H / F mod H, for the fragment p,
//     the round closes `grace` after the quorum has arrived; for every layer l of p, among those
//     that have arrived:
//     d_i = y_l - x_i,l;  w_i = T_i T_i / c_i, for T_i samples in c_i steps since the last exchange
//     d = (sum w_i |d_i| / sum w_i) phi(sum w_i phi(d_i) / sum w_i),  phi(z) = z / |z|
//     v_l = mu v_l + d;  y_l = y_l - lr_out (d + mu v_l);  x_i,l = y_l
//
// So a mean of nearly orthogonal differences is as long as they are, whatever their number
// (radial-directional averaging); with "merge": "mean", d is the weighted mean of the d_i. A layer
// is a bucket; by default every tensor is one. Evaluations use y.
//
// Rounds are those of membership/: a worker that comes late drops its steps since the last round
// and goes on with y, and training goes on without workers that fail. In the paper a separate
// process holds y, workers do not wait for rounds to close but receive y some steps later, and late
// workers keep their steps, so that a quorum of 1 is its default; here every worker holds y, and
// waits, and the default is a quorum of all workers. A worker that joins takes the counts c_i of
// the worker whose model it copies.
//
// Messages and bytes per rank and H steps, for a model of S bytes, K workers per round and a ring:
// 2(K-1) messages per layer, 2(K-1)/K S bytes, and per layer about lg K messages of 8 bytes. A late
// worker receives y and v, 2 S bytes.
// Memory: three more models.

#include <algorithm>
#include <span>
#include <utility>

#include "algorithms/entries.h"
#include "algorithms/execution/fragments.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/execution/parts.h"
#include "algorithms/membership/group_average.h"
#include "algorithms/membership/members.h"
#include "algorithms/options.h"

namespace trigram::algorithm::decoupled_diloco {
namespace {

struct Options {
  Execution execution{.bucket_bytes = 0};
  FragmentSchedule layers{.sync_every = 24};
  NesterovOuter outer;
  Merge merge = Merge::radial;
  AllreduceSpec allreduce;
  Quorum quorum;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const OuterStep step = options.outer.step();
  const Tensor weights = run.workload.weights(), all = run.state.copy_of(ctx, "outer", weights);
  const auto outer = cut_like_buckets(run, all),
             momentum = cut_like_buckets(run, run.state.zeros_like(ctx, "momentum", weights)),
             merged = cut_like_buckets(run, ctx.device->empty_like(weights));
  const FragmentSchedule schedule = options.layers;
  const long interval = options.layers.sync_every / options.layers.fragments;
  const auto quorum = static_cast<int>(options.quorum.workers);
  Members members(ctx, run,
                  {.quorum = quorum > 0 ? quorum : ctx.size(), .grace_s = options.quorum.grace_s});
  // Local steps since the last exchange of each layer.
  const std::span<long> made = run.state.values<long>("local steps", outer.size());
  run.steps.evaluate(all);
  for (long t : run.steps) {
    if (!members.present(ctx)) continue;
    local_step(ctx, run);
    for (long& steps : made) ++steps;
    if ((t + 1) % interval != 0) continue;
    const auto group = members.arrive(ctx, t / interval);
    if (!group) {
      ctx.device->copy(weights, all);
      std::ranges::fill(made, 0);
      continue;
    }
    for (const Bucket& layer : run.workload.buckets()) {
      const auto i = static_cast<std::size_t>(layer.index);
      if (!schedule.due(schedule.fragment_of(i, outer.size()), t)) continue;
      ctx.device->copy(merged[i], outer[i]);
      ctx.device->axpby(-1, layer.weight, 1, merged[i]);
      const auto samples = static_cast<float>(run.workload.batch()),
                 steps = static_cast<float>(std::exchange(made[i], 0));
      ctx.stream->wait(
          *begin_exchange(*comm, ctx, run, merged[i], layer.index,
                          weighted_average_among(*group, options.allreduce,
                                                 samples * samples * steps, options.merge)));
      outer_step(*ctx.device, step, merged[i], outer[i], momentum[i]);
      ctx.device->copy(layer.weight, outer[i]);
    }
  }
  members.finish(ctx);
  run.steps.evaluate({});
}

ExchangeSchedule exchange_schedule(const Options& options, const Layout&) {
  return {.cycle = {},
          .interval_steps = options.layers.sync_every / options.layers.fragments,
          .bounds_lead = true};
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  check_quorum(options.quorum, options.execution, layout, pointer);
  check_fragments(options.layers, 0, pointer);
}

}  // namespace

AlgorithmEntry decoupled_diloco_entry() {
  return algorithm_entry(
      {.name = "decoupled_diloco",
       .doc =
           "DiLoCo by fragments, among a quorum of workers; directions and lengths of changes are "
           "averaged apart",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "F",
       .source = "Decoupled DiLoCo, arXiv 2604.21428",
       .own_states = true,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .include(&Options::layers, fragment_fields())
          .include(&Options::outer, nesterov_outer_fields())
          .field("merge", &Options::merge,
                 one_of<Merge>({{"radial", Merge::radial}, {"mean", Merge::mean}}),
                 "radial: averages directions and lengths of differences apart; mean: averages the "
                 "differences")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce")
          .include(&Options::quorum, quorum_fields()),
      {.schedule = exchange_schedule,
       .check = check,
       .dispensable = [](const Options&, const Layout& layout) { return all_ranks(layout); }});
}

}  // namespace trigram::algorithm::decoupled_diloco
