// 1-bit SGD: synchronous SGD on the signs of gradients, with error feedback (Seide et al.,
// Interspeech 2014).
//
//   v = g_i(x) + e_i;  c_i = C(v);  e_i = v - c_i                          the worker
//   w = 1/P sum_j c_j + e;  c = C(w);  e = w - c;  x = x - lr U(c)         the owner of a chunk
//
// C keeps one bit per element. The bit decodes to one of two means: the mean of all elements below
// zero, or the mean of all other elements. The paper takes these means per column of a
// weight matrix; here they are taken per chunk of 1/P of a bucket. We restate the equations here
// and do not quote numbers of the paper.
//
// Messages and bytes per rank and iteration, for P exchanging ranks and C_b bytes of code per
// bucket (about S_b/32): 2(P-1) messages and 2(P-1)/P C_b bytes per bucket.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::onebit_sgd {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"sign", {{"scale", "means"}}};
  bool error_feedback = true;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
};

}  // namespace

AlgorithmEntry onebit_sgd_entry() {
  return algorithm_entry(
      {.name = "onebit_sgd",
       .doc = "Synchronous SGD on the signs of gradients, with error feedback at both ends",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Seide et al., 1-Bit Stochastic Gradient Descent, Interspeech 2014"},
      train_on_coded_gradients<Options, coded_average>, scatter_reduce_fields<Options>("gradients"),
      {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::onebit_sgd
