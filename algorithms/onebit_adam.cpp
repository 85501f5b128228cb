// 1-bit Adam: after a warm-up, workers exchange the signs of Adam's momentum (Tang et al., arXiv
// 2102.02888).
//
//   t < warm-up:  g = 1/P sum_j g_j(x);  Adam(g)
//   after:        m_i = b1 m + (1 - b1) g_i(x);  m = C(1/P sum_j C(m_j))
//                 x = x - lr m / (sqrt(v) + eps)
//
// C(x) is the sign of every element times a common scale, one bit per element. It has error
// feedback at the worker and, for the mean, at the owner of each chunk. After the last warm-up step
// the variance v and its bias correction are frozen; m and its bias correction continue. (The
// paper's code, in DeepSpeed, has no bias corrections, not even in the warm-up.)
//
// Messages and bytes per rank and iteration after the warm-up, for P exchanging ranks and C_b =
// S_b/32 bytes of code per bucket: 2(P-1) messages and 2(P-1)/P C_b bytes per bucket. In the
// warm-up: those of an allreduce.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::onebit_adam {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"sign"};
  bool error_feedback = true;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
  std::int64_t warmup_steps = 100;
  AllreduceSpec allreduce;
};

}  // namespace

AlgorithmEntry onebit_adam_entry() {
  return algorithm_entry({.name = "onebit_adam",
                          .doc = "Adam whose momentum travels as signs, with error feedback",
                          .trigram = kSyncLowPrecisionCentralised,
                          .execution_options = "OFH",
                          .source = "Tang et al., 1-bit Adam, arXiv 2102.02888",
                          .exchanges_moment = true},
                         train_on_coded_moments<Options, BiasCorrection::frozen, WarmUp::plain>,
                         moment_fields<Options>(), {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::onebit_adam
