// 1-bit Adam: after a warm-up, workers exchange the signs of Adam's momentum (Tang et al., arXiv
// 2102.02888).
//
//   t < warm-up:  g = 1/P sum_j g_j(x);  Adam(g)
//   after:        m_i = b1 m + (1 - b1) g_i(x);  m = C(1/P sum_j C(m_j));  x = x - lr m / (sqrt(v)
//   + eps)
//
// C is sign times norm, one bit per element, with error feedback at the worker, and at the owner of
// each chunk for the mean. The variance v is frozen. Bias correction is the optimizer's. Steps and
// bytes per rank and iteration after the warm-up, P exchanging ranks, C_b = S_b/32 bytes of code
// per bucket: 2(P-1) messages and 2(P-1)/P C_b bytes per bucket; before, those of an allreduce.

#include "algorithms/entries.h"
#include "algorithms/execution/moments.h"
#include "algorithms/options.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"sign"};
  bool error_feedback = true;
  std::int64_t warmup_steps = 100;
  AllreduceAlgorithm allreduce = AllreduceAlgorithm::ring;
};

class OneBitAdam final : public Algorithm {
 public:
  explicit OneBitAdam(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    train_on_moments(ctx, run, options_.warmup_steps, options_.allreduce,
                     {options_.codec, options_.error_feedback, run.seed});
  }

 private:
  Options options_;
};

}  // namespace

AlgorithmEntry onebit_adam_entry() {
  return algorithm_entry<OneBitAdam>(
      {.name = "onebit_adam",
       .doc = "Adam whose momentum travels as signs, with error feedback",
       .trigram = kSyncLowCentralised,
       .execution_options = "OFH",
       .source = "Tang et al., 1-bit Adam, arXiv 2102.02888",
       .exchanges_moment = true},
      moment_fields<Options>());
}

}  // namespace trigram
