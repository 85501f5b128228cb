// DeMo: workers keep momenta of their own, which are never averaged, and send only the components
// of a cosine transform in which the momenta move fast (Peng et al., arXiv 2411.19870).
//
//   m_i = beta m_i + lr g_i(x);  q_i = Q(m_i);  m_i = m_i - q_i
//   x = x - lr sign(mean_j q_j)
//
// Q keeps the k largest coefficients of the discrete cosine transform of every chunk of 4096
// elements. The mean of a coefficient is over the ranks that have sent it, as in the authors' code
// (demo.py of bloc97/DeMo at 0e48145), which cuts chunks of 64 x 64 out of matrices; the codec
// dct_topk describes both differences. The sign of 0 is 0. The optimizer makes the step, and should
// be sgd without momentum, since the momentum is here. With another codec Q, or with dct_topk whose
// option "mean" is not "senders", the mean is over all ranks.
//
// Every rank's code goes to every rank: in a ring, P-1 messages and (P-1) C_b bytes per bucket, 112
// bytes for 4096 elements if k = 32. Memory: one more model.

#include <vector>

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::demo {
namespace {

struct Options {
  Execution execution;
  double decay = 0.999;
  CodecSpec codec{"dct_topk", {{"mean", "senders"}}};
};

/// x = sign(x), and NaN where x is not finite, so that a diverged run stays visible.
void take_sign(Device& device, const Tensor& x) {
  const Tensor sign = device.zeros_like(x), momentum = device.zeros_like(x);
  device.update(LionStep{.lr = -1, .beta1 = 0, .beta2 = 0}, sign, x, {momentum});
  device.axpby(0, x, 1, sign);
  device.copy(x, sign);
}

/// Replaces lr g_i by the sign of the mean of all q_j.
Exchange sign_of_mean(const Run& run, const Options& options) {
  return [options, seed = run.seed, state = run.state](Context c, const Tensor& x, Slot slot) {
    Device& device = *c.device;
    const auto codec = device.codec(options.codec, codec_key(c, seed, slot));
    const Tensor momentum = state.zeros_like(c, fmt::format("momentum {}", slot.bucket), x);
    device.axpby(static_cast<float>(options.decay), momentum, 0, momentum);
    const auto self = static_cast<std::size_t>(c.rank());
    const auto codes = empty_wires(c, *codec, x, static_cast<std::size_t>(c.size()));
    // The momentum is the residual of a code with error feedback.
    codec->encode_each_with_feedback(device, {&codes[self], 1}, {&x, 1}, {&momentum, 1});
    ring_allgather(c, codes);
    codec->decode_mean(device, x, codes);
    take_sign(device, x);
  };
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const Exchange exchange = across(run.execution, sign_of_mean(run, options));
  for ([[maybe_unused]] long t : run.steps)
    exchange_step(
        ctx, run, *comm, exchange,
        [&](Bucket& bucket) {
          ctx.device->axpby(run.optimizer.learning_rate(bucket), bucket.grad, 0, bucket.grad);
          return bucket.grad;
        },
        [&](Bucket& bucket) { run.optimizer.step(ctx, bucket); });
}

}  // namespace

AlgorithmEntry demo_entry() {
  return algorithm_entry({.name = "demo",
                          .doc = "Signs of the fast components of momenta that stay at the workers",
                          .trigram = kSyncLowPrecisionCentralised,
                          .execution_options = "OFH",
                          .source = "Peng et al., DeMo, arXiv 2411.19870"},
                         train,
                         FieldTable<Options>{}
                             .field("decay", &Options::decay, number(0, 1, Open::above),
                                    "beta: share of a worker's momentum that is kept in a step")
                             .field("codec", &Options::codec, contraction_kind(),
                                    "Codec that extracts components of the momenta; DeMo's is "
                                    "dct_topk with \"mean\": \"senders\""));
}

}  // namespace trigram::algorithm::demo
