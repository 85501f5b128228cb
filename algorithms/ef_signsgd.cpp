// EF-signSGD: SGD on scaled signs, with error feedback at the workers (Karimireddy et al., arXiv
// 1901.09847).
//
//   v = g_i(x) + e_i;  c_i = ||v||_1 / n sign(v);  e_i = v - c_i
//   x = x - lr U(1/P sum_j c_j)
//
// n is the number of elements of a bucket. We restate the equations here and do not quote numbers
// of the paper. The paper's e_i is the residual of lr g_i, so the two forms differ if lr changes:
// here, a residual from earlier steps is applied with the present lr, not with the lr of those
// steps.
//
// Every rank's code goes to every rank: in a ring, P-1 messages and (P-1) C_b bytes per bucket,
// with C_b = n/8 + 4 bytes. This sends less than an allreduce, 2(P-1)/P 4n bytes, while P is below
// 64.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::ef_signsgd {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"sign", {{"scale", "l1_mean"}}};
  bool error_feedback = true;
};

}  // namespace

AlgorithmEntry ef_signsgd_entry() {
  return algorithm_entry(
      {.name = "ef_signsgd",
       .doc = "Synchronous SGD on the scaled signs of every worker's gradient, with error feedback",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Karimireddy et al., Error Feedback Fixes SignSGD, arXiv 1901.09847"},
      train_on_coded_gradients<Options, gathered_average>, coding_fields<Options>("gradients"),
      {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::ef_signsgd
