// QSGD: synchronous SGD on stochastically rounded gradients (Alistarh et al., arXiv 1610.02132).
//
//   g = Q(1/P sum_j Q(g_j(x))), chunk by chunk;  x = x - lr U(g)
//
// Q rounds the magnitude of every element to a multiple of norm / s, where s is the codec's number
// of levels and norm is the norm of the group of elements (the codec's `bucket`) around the
// element. It rounds up or down at random such that the expected value is the element, so the
// gradient stays unbiased. We restate the equations here and do not quote numbers of the paper. The
// paper sends every worker's code to all workers; here each chunk's owner averages the decoded
// chunks and encodes the mean again, also without bias.
//
// Messages and bytes per rank and iteration, for P exchanging ranks and C_b bytes of code per
// bucket: 2(P-1) messages and 2(P-1)/P C_b bytes per bucket.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::qsgd {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"qsgd"};
  bool error_feedback = false;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
};

}  // namespace

AlgorithmEntry qsgd_entry() {
  return algorithm_entry({.name = "qsgd",
                          .doc = "Synchronous SGD on gradients rounded at random, without bias",
                          .trigram = kSyncLowPrecisionCentralised,
                          .execution_options = "OFH",
                          .source = "Alistarh et al., QSGD, arXiv 1610.02132"},
                         train_on_coded_gradients<Options, coded_average>,
                         scatter_reduce_fields<Options>("gradients"),
                         {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::qsgd
