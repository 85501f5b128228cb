// DGC, deep gradient compression: ranks send the largest elements of accumulated,
// momentum-corrected gradients (Lin et al., arXiv 1712.01887).
//
//   g = g_i(x), scaled down to a norm of at most clip / sqrt(P) if `clip` is given
//   u = mu u + g;  v = v + u                                   momentum correction
//   c_i = the k largest elements of v;  v = v - c_i
//   u = 0 where v = 0                                          momentum factor masking
//   x = x - lr U(1/P sum_j c_j)
//
// With Nesterov's momentum, u = mu (u + g) and v = v + u + g. The algorithm itself applies the
// momentum, so the optimizer should have none. k is a share of the bucket's elements: the density,
// or a larger share during a warm-up. The share is 1/4 in the first stage of the warm-up (a stage
// is an epoch in the paper) and a quarter of the previous share in every later stage, until it
// reaches the density.
//
// Messages and bytes per rank and iteration: in a ring, P-1 messages and (P-1) 8 k bytes per
// bucket. Memory: two models.

#include <cmath>

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "core/config/option_type.h"

namespace trigram::algorithm::dgc {
namespace {

struct Options {
  Execution execution;
  double density = 0.001;
  double momentum = 0.9;
  bool nesterov = false;
  std::optional<double> clip;
  std::int64_t warmup_every = 0;
};

/// The density in the given stage of the warm-up.
double warmup_density(long stage) { return std::ldexp(1.0, -2 * static_cast<int>(stage + 1)); }

/// The number of steps of the warm-up.
long warmup_steps(const Options& o) {
  long stages = 0;
  while (o.warmup_every > 0 && warmup_density(stages) > o.density) ++stages;
  return stages * o.warmup_every;
}

double density_in_step(const Options& o, long step) {
  return step < warmup_steps(o) ? warmup_density(step / o.warmup_every) : o.density;
}

/// Replaces g, a bucket's gradient, by the mean of the codes. `state` keeps the bucket's v, which
/// is the residual of its code, and u.
void exchange(Context c, const Tensor& g, Codec& codec, const Options& o,
              const TrainingState& state) {
  const Tensor v = state.zeros_like(c, "v", g), u = state.zeros_like(c, "u", g);
  const auto mu = static_cast<float>(o.momentum);
  if (o.clip) {
    const double limit = *o.clip / std::sqrt(c.size()), norm = c.device->norm2(g);
    c.device->axpby(norm > limit ? static_cast<float>(limit / norm) : 1, g, 0, g);
  }
  if (o.nesterov) {
    c.device->axpby(mu, g, mu, u);  // u = mu (u + g)
    c.device->axpby(1, u, 1, g);    // g = u + g
  } else {
    c.device->axpby(1, g, mu, u);  // u = mu u + g
    c.device->copy(g, u);          // g = u
  }
  if (c.size() == 1) return;
  // Encodes v + g, and leaves in v the elements that were not sent, and 0 where an element was
  // sent.
  c_lp_gather(c, g, codec, &v);
  // Momentum factor masking: relu_grad sets u to 0 exactly where v is 0.
  c.device->nn().relu_grad(v, u);
}

void train(Context ctx, Run& run, const Options& options) {
  train_on_gradients(
      ctx, run,
      [options, seed = run.seed, state = run.state](Context c, const Tensor& g, Slot slot) {
        const CodecSpec sparse{"topk", {{"density", density_in_step(options, slot.step)}}};
        const auto codec = c.device->codec(sparse, codec_key(c, seed, slot));
        exchange(c, g, *codec, options, state.child(fmt::format("bucket {}", slot.bucket)));
      });
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.first_step = warmup_steps(options)}};
}

}  // namespace

AlgorithmEntry dgc_entry() {
  return algorithm_entry(
      {.name = "dgc",
       .doc = "Synchronous SGD on the largest elements of gradients with momentum correction",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Lin et al., Deep Gradient Compression, arXiv 1712.01887"},
      train,
      FieldTable<Options>{}
          .field("density", &Options::density, number(1e-9, 1),
                 "Share of the elements that are sent")
          .field("momentum", &Options::momentum, number(0, 1, Open::above), "mu")
          .field("nesterov", &Options::nesterov, boolean(), "Use Nesterov momentum")
          .field("clip", &Options::clip, optional(number(0, 1e6, Open::below)),
                 "Each worker scales a bucket's gradient down to a norm of at most `clip` / "
                 "sqrt(P); null: no clipping")
          .field("warmup_every", &Options::warmup_every, integer(0),
                 "Steps per stage of the density warm-up; 0: no warm-up"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::dgc
