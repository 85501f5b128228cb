// Streaming DiLoCo: DiLoCo whose outer step moves through the fragments of the model, is hidden
// behind local steps, and may be encoded (Douillard et al., arXiv 2501.18512).
//
//   every step t:  x_i = x_i - lr U(g_i(x_i));  for every fragment p of the model:
//     if t = t_p mod H:        begin d_p = 1/P sum_j Q(y_p - x_j,p)
//     if t = t_p + tau mod H:  v_p = mu v_p + d_p;  y_p = y_p - lr_out (d_p + mu v_p);
//                              x_i,p = alpha x_i,p + (1 - alpha) y_p
//
// y are the outer parameters, the same on all workers; by default evaluations use them. For F
// fragments t_p = (p + 1) H / F, so that one fragment is exchanged every H / F steps, the order of
// torchft (torchft/local_sgd.py at 7eb7087), which demands that F divides H; the option `spacing`
// rounds t_p instead. As there, differences are taken from y. With F = 1, tau = 0, alpha = 0 and
// without Q this is DiLoCo. Q is the codec, if any; codes are decoded and added up in f32.
//
// A layer is a bucket; by default every tensor is one. With overlap (O) the exchange of a layer
// begins as soon as the last inner step has updated it, and the outer step on it ends before the
// next forward pass reaches it; an evaluation at the end of that step sees the y before. Without
// overlap, exchanges follow the backward pass, and outer steps end with the step.
//
// Messages and bytes per rank and H steps, for a model of S bytes and a ring: 2(P-1) messages per
// layer, 2(P-1)/P S bytes. With a codec every code goes to every rank: P-1 messages per layer,
// (P-1) C bytes. Memory: three more models.

#include "algorithms/entries.h"
#include "algorithms/execution/outer_layers.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"

namespace trigram::algorithm::streaming_diloco {
namespace {

enum class Evaluated { outer, workers };

struct Options {
  Execution execution{.bucket_bytes = 0};
  FragmentSchedule layers;
  std::int64_t overlap_steps = 1;
  double mixing = 0;
  NesterovOuter outer{.lr = 0.4};
  std::optional<CodecSpec> codec;
  Evaluated evaluate = Evaluated::outer;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  const OuterStep step = options.outer.step();
  OuterLayers outer(ctx, run,
                    {.schedule = options.layers,
                     .overlap_steps = options.overlap_steps,
                     .mixing = static_cast<float>(options.mixing),
                     .outer = step},
                    options.codec ? gathered_average({.codec = *options.codec, .seed = run.seed})
                                  : full_average(options.allreduce));
  const bool overlap = run.execution.overlap;
  if (options.evaluate == Evaluated::outer) run.steps.evaluate(outer.parameters());
  for (long t : run.steps) {
    if (overlap)
      run.workload.forward_by_bucket(ctx, [&](Bucket& layer) { outer.receive(ctx, layer, t - 1); });
    else run.workload.forward(ctx);
    backward_by_bucket(ctx, run, [&](Bucket& layer) {
      run.optimizer.step(ctx, layer);
      outer.send(ctx, run, layer, t);
    });
    if (!overlap || run.steps.last_of_run(t))
      for (const Bucket& layer : run.workload.buckets()) outer.receive(ctx, layer, t);
  }
  outer.finish(ctx);
  run.steps.evaluate({});
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {
      .cycle = Cycle{.first_step = options.overlap_steps + 1, .steps = options.layers.sync_every},
      .interval_steps =
          std::max<std::int64_t>(1, options.layers.sync_every / options.layers.fragments)};
}

void check(const Options& options, const Layout&, const std::string& pointer) {
  check_fragments(options.layers, options.overlap_steps, pointer, R"("spacing": "rounded")");
}

}  // namespace

AlgorithmEntry streaming_diloco_entry() {
  return algorithm_entry(
      {.name = "streaming_diloco",
       .doc = "DiLoCo that exchanges the model in fragments, beside local steps",
       .trigram = kSyncFullPrecisionCentralised,
       .trigram_with_codec = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Douillard et al., Streaming DiLoCo, arXiv 2501.18512",
       .own_states = true,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .include(&Options::layers,
                   fragment_fields().field(
                       "spacing", &FragmentSchedule::rounded,
                       one_of<bool>({{"equal", false}, {"rounded", true}}),
                       "Distances between exchanges: equal, so that F divides H, or H / F rounded "
                       "to whole steps"))
          .field("overlap_steps", &Options::overlap_steps, integer(0),
                 "tau: steps beside which a fragment is exchanged; less than H")
          .field("mixing", &Options::mixing, number(0, 1, Open::above),
                 "alpha: share of a worker's own weights when the outer parameters arrive")
          .include(&Options::outer, nesterov_outer_fields())
          .field("codec", &Options::codec, optional_codec_kind(),
                 "Codec of outer gradients on the wire; none: full precision")
          .field("evaluate", &Options::evaluate,
                 one_of<Evaluated>({{"outer", Evaluated::outer}, {"workers", Evaluated::workers}}),
                 "Model that evaluations use: the outer parameters, or the mean of the workers' "
                 "models")
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Algorithm of the allreduce, without a codec")
          .only_where([](const Options& options) { return !options.codec; }, kNoAllreduceOfCodes),
      {.schedule = schedule, .check = check});
}

}  // namespace trigram::algorithm::streaming_diloco
