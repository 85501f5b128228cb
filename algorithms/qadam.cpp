// QAdam: after a warm-up, workers exchange Adam's momentum in eight bits (BAGUA, arXiv 2107.01499).
//
// In step t = 1, 2, ..., with a warm-up of W steps:
//
//   t < W:  g = 1/P sum_j g_j(x);  Adam(g)
//   t = W:  g = 1/P sum_j g_j(x) is not used;                 x = x - lr m / (sqrt(v) + eps)
//   t > W:  m_i = b1 m + (1 - b1) g_i(x);  m = Q(1/P sum_j Q(m_j));  x likewise
//
// Step W follows the original code (bagua/torch_api/algorithms/q_adam.py), which updates moments
// from gradients before step W and exchanges moments after step W. With W = 1 there is no variance
// to freeze. After the warm-up v is frozen, and both bias corrections continue to grow with the
// step. Q is MinMaxUInt8, without error feedback.
//
// Messages and bytes per rank and iteration after the warm-up, for P exchanging ranks and C_b =
// S_b/4 bytes of code per bucket: 2(P-1) messages and 2(P-1)/P C_b bytes per bucket. In the
// warm-up: those of an allreduce among all ranks. Execution is hierarchical by default; the warm-up
// is never hierarchical.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::qadam {
namespace {

struct Options {
  Execution execution{.hierarchical = true};
  CodecSpec codec{"minmax_uint8"};
  bool error_feedback = false;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
  std::int64_t warmup_steps = 100;
  AllreduceSpec allreduce;
};

}  // namespace

AlgorithmEntry qadam_entry() {
  return algorithm_entry(
      {.name = "qadam",
       .doc = "Adam whose momentum travels in eight bits",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "BAGUA, arXiv 2107.01499",
       .exchanges_moment = true},
      train_on_coded_moments<Options, BiasCorrection::grows, WarmUp::ignores_last_gradient>,
      moment_fields<Options>(), {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::qadam
