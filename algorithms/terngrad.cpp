// TernGrad: synchronous SGD on gradients of three values (Wen et al., arXiv 1705.07878).
//
//   g = g_i(x), clipped to +- c sigma;  s = max |g|
//   t_i = s sign(g) b, b = 1 with probability |g| / s, else 0;  x = x - lr U(1/P sum_j t_j)
//
// By default this applies tensor by tensor, with one s for each tensor (or for every 2^24
// elements). t_i is an unbiased estimate of the clipped g. sigma is the root mean square of g,
// whose mean is near 0. We restate the equations here and do not quote numbers of the paper. The
// paper's server adds up the t_j, optionally with one scale for all workers; here every worker has
// its own scale, and every rank adds up the t_j.
//
// Messages and bytes per rank and iteration: in a ring, P-1 messages and (P-1) C_b bytes per
// bucket, with C_b = n/4 + 4 bytes. This sends less than an allreduce, 2(P-1)/P 4n bytes, while P
// is below 32.

#include <cmath>

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "core/config/option_type.h"

namespace trigram::algorithm::terngrad {
namespace {

struct Options {
  Execution execution{.bucket_bytes = 0};
  std::optional<double> clip = 2.5;
};

/// x = min(max(x, -limit), limit): twice, raises x to -limit and changes its sign.
void clip(Device& device, const Tensor& x, float limit) {
  const Tensor floor = device.empty_like(x);
  device.fill(floor, -limit);
  for (int side = 0; side < 2; ++side) {
    device.maximum(floor, x);
    device.axpby(-1, x, 0, x);
  }
}

void train(Context ctx, Run& run, const Options& options) {
  const CodecSpec ternary{"qsgd", {{"levels", 1}, {"norm", "max"}, {"bucket", 1 << 24}}};
  const auto average = gathered_average({.codec = ternary, .seed = run.seed});
  train_on_gradients(
      ctx, run, [average, factor = options.clip](Context c, const Tensor& g, Slot s) {
        if (factor && g.numel() > 0) {
          const double sigma = c.device->norm2(g) / std::sqrt(static_cast<double>(g.numel()));
          clip(*c.device, g, static_cast<float>(*factor * sigma));
        }
        average(c, g, s);
      });
}

}  // namespace

AlgorithmEntry terngrad_entry() {
  return algorithm_entry(
      {.name = "terngrad",
       .doc = "Synchronous SGD on gradients rounded at random to three values, without bias",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Wen et al., TernGrad, arXiv 1705.07878"},
      train,
      FieldTable<Options>{}.field(
          "clip", &Options::clip, optional(number(0, 1e6, Open::below)),
          "c: elements are clipped to c standard deviations of their bucket; null: no clipping"));
}

}  // namespace trigram::algorithm::terngrad
