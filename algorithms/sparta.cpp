// SPARTA: after every local step the workers average a few of the weights, at positions that are
// drawn anew (Baioumy and Cheema, Improving the Efficiency of Distributed Training using Sparse
// Parameter Averaging, 2025).
//
//   x_i = x_i - lr U(g_i(x_i));  M = the same random positions on all workers
//   x_i[M] = 1/P sum_j x_j[M]
//
// Of a model, or of a bucket, of n weights, exactly ceil(p n) are drawn, where the reference code
// (exo-explore/gym, sparta.py at 9fa323c) draws each weight with probability p. Every worker draws
// the positions itself, from a common seed, so only values are exchanged. The state of the
// optimizer stays local.
//
// Messages and bytes per rank and step, for a model of S bytes and a ring: 2(P-1) messages (per
// bucket), 2(P-1)/P p S bytes.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"
#include "core/codecs/options.h"

namespace trigram::algorithm::sparta {
namespace {

struct Options {
  Execution execution;
  double density = 0.005;
  std::optional<std::int64_t> outer_every;
  double outer_lr = 0.7, outer_momentum = 0.9;
  AllreduceSpec allreduce;
};

/// The values of a wire of the codec randk, which follow its header.
Tensor values_of(const Tensor& wire) {
  const std::size_t numel = (wire.numel() - std::min(wire.numel(), randk::kHeaderBytes)) / 4,
                    priced = (wire.priced_numel() - randk::kHeaderBytes) / 4;
  if (wire.is_phantom()) return Tensor::phantom(numel, DType::f32, priced);
  const std::shared_ptr<std::byte> alias(std::shared_ptr<std::byte>(),
                                         wire.data() + randk::kHeaderBytes);
  return {alias, numel, DType::f32, priced};
}

/// Averages the elements of x at the positions that the codec randk draws for this slot.
Exchange average_some(const Options& options, std::uint64_t seed) {
  const CodecSpec spec{"randk", {{"density", options.density}, {"unbiased", false}}};
  return [options, spec, seed](Context c, const Tensor& x, Slot slot) {
    CodecKey shared = codec_key(c, seed, slot);
    shared.rank = 0;
    const auto codec = c.device->codec(spec, shared);
    const Tensor wire = codec->empty_wire(*c.device, x), decoded = c.device->empty_like(x);
    codec->encode(wire, x);
    codec->decode(decoded, wire);
    c.device->axpby(-1, decoded, 1, x);  // 0 at the positions, exactly
    allreduce(c, values_of(wire), Reduce::avg, options.allreduce);
    codec->decode(decoded, wire);
    c.device->axpby(1, decoded, 1, x);
  };
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const Exchange average = across(run.execution, average_some(options, run.seed));
  if (!options.outer_every) {
    for ([[maybe_unused]] long t : run.steps) local_step(ctx, run, *comm, average, /*due=*/true);
    return;
  }
  const Exchange average_all = full_average(options.allreduce);
  const OuterStep outer{.momentum = static_cast<float>(options.outer_momentum),
                        .lr = static_cast<float>(options.outer_lr),
                        .nesterov = true};
  const Tensor weights = run.workload.weights(), start = run.state.copy_of(ctx, "start", weights),
               momentum = run.state.zeros_like(ctx, "momentum", weights);
  for (long t : run.steps) {
    local_step(ctx, run, *comm, average, /*due=*/true);
    if ((t + 1) % *options.outer_every != 0) continue;
    exchange_on(*comm, ctx, run, weights, average_all);
    ctx.device->axpby(1, start, -1, weights);
    outer_step(*ctx.device, outer, weights, start, momentum);
    ctx.device->copy(weights, start);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = options.outer_every.value_or(1)}};
}

}  // namespace

AlgorithmEntry sparta_entry() {
  const auto has_outer = [](const Options& options) { return options.outer_every.has_value(); };
  const char* const kNeedsOuter = "has no effect here; expected a \"sync_every\" beside it";
  return algorithm_entry(
      {.name = "sparta",
       .doc = "Local SGD that averages a few randomly chosen weights after every step",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "F",
       .source = "Baioumy and Cheema, SPARTA, 2025",
       .exchanges_weights = true,
       .synchronizes = false,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .field("density", &Options::density, density_kind(),
                 "p: share of the weights that are averaged in a step")
          .field("sync_every", &Options::outer_every, optional(integer(1)),
                 "H: steps between averages of the whole model, each with an outer step; null: "
                 "none")
          .field("outer_lr", &Options::outer_lr, number(0, 1e3), "Learning rate of outer steps")
          .only_where(has_outer, kNeedsOuter)
          .field("outer_momentum", &Options::outer_momentum, number(0, 1, Open::above),
                 "mu: share of the outer momentum kept")
          .only_where(has_outer, kNeedsOuter)
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::sparta
