// EF21: workers send codes of the changes of their gradients, from which all ranks keep up an
// estimate of the mean gradient (Richtarik, Sokolov, Fatkhullin, arXiv 2106.05203, Algorithm 2).
//
//   c_i = Q(g_i(x) - h_i);  h_i = h_i + c_i;  h = h + 1/P sum_j c_j;  x = x - lr U(h)
//
// h_i is the estimate of rank i's gradient, 0 at first, and h the mean of all h_j, which is the
// same on all ranks. Q may be biased, such as a top-k code, but must be a contraction. In contrast
// to error feedback, the error vanishes where gradients no longer change. With momentum (EF21-SGDM,
// Fatkhullin, Tyurin, Richtarik, arXiv 2305.15155, Algorithm 1), v_i takes the place of g_i(x), so
// that the noise of mini-batches is averaged before it is encoded:
//
//   v_i = mu v_i + (1 - mu) g_i(x), at first g_i(x)
//
// Messages and bytes per rank and iteration: every rank's code goes to every rank, in a ring P-1
// messages and (P-1) C_b bytes per bucket. A single rank sends nothing, and steps along its own
// gradient. Memory: two models, and a third with momentum.

#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::ef21 {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"topk"};
  double momentum = 0;
};

/// Replaces g, a bucket's gradient, by h. `state` keeps the bucket's h, -h_i and v_i.
void estimate(Context c, const Tensor& g, Codec& codec, const Options& o,
              const TrainingState& state) {
  Device& device = *c.device;
  if (o.momentum > 0) {
    const Tensor average = state.copy_of(c, "average", g);
    const auto mu = static_cast<float>(o.momentum);
    device.axpby(1 - mu, g, mu, average);
    device.copy(g, average);
  }
  if (c.size() == 1) return;
  const Tensor mean = state.zeros_like(c, "mean", g), target = device.copy_of(g);
  // With -h_i as the residual, a code with error feedback is Q(g_i - h_i), and leaves the residual
  // g_i - h_i - c_i, which is g_i without the new h_i.
  const Tensor minus_own = state.zeros_like(c, "minus own", g);
  c_lp_gather(c, g, codec, &minus_own);
  device.axpby(-1, target, 1, minus_own);
  device.axpby(1, g, 1, mean);
  device.copy(g, mean);
}

void train(Context ctx, Run& run, const Options& options) {
  train_on_gradients(
      ctx, run,
      [options, seed = run.seed, state = run.state](Context c, const Tensor& g, Slot slot) {
        const auto codec = c.device->codec(options.codec, codec_key(c, seed, slot));
        estimate(c, g, *codec, options, state.child(fmt::format("bucket {}", slot.bucket)));
      });
}

}  // namespace

AlgorithmEntry ef21_entry() {
  return algorithm_entry(
      {.name = "ef21",
       .doc = "Synchronous SGD on an estimate of the mean gradient that follows coded changes",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Richtarik et al., EF21, arXiv 2106.05203"},
      train,
      FieldTable<Options>{}
          .field("codec", &Options::codec, contraction_kind(),
                 "Codec of the changes of gradients on the wire")
          .field("momentum", &Options::momentum, number(0, 1, Open::above),
                 "mu: share of the average of earlier gradients that is kept; 0: EF21-SGD, else "
                 "EF21-SGDM"));
}

}  // namespace trigram::algorithm::ef21
