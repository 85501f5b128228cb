// ByteGrad: synchronous SGD on gradients encoded in eight bits (BAGUA, arXiv 2107.01499).
//
//   g = Q(1/P sum_j Q(g_j(x))), chunk by chunk;  x = x - lr U(g)
//
// Q is MinMaxUInt8 on chunks of 1/P of a bucket. The method is deterministic and, by default,
// has no error feedback. Its error is then that of two quantisations, one of each gradient and one
// of the mean.
//
// Messages and bytes per rank and iteration, for P exchanging ranks and C_b bytes of code per
// bucket (about a quarter of its gradient): 2(P-1) messages and 2(P-1)/P C_b bytes per bucket.
// Execution is hierarchical by default, as in the paper's implementation.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::bytegrad {
namespace {

struct Options {
  Execution execution{.hierarchical = true};
  CodecSpec codec{"minmax_uint8"};
  bool error_feedback = false;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
};

}  // namespace

AlgorithmEntry bytegrad_entry() {
  return algorithm_entry({.name = "bytegrad",
                          .doc = "Synchronous SGD on gradients coded in eight bits",
                          .trigram = kSyncLowPrecisionCentralised,
                          .execution_options = "OFH",
                          .source = "BAGUA, arXiv 2107.01499"},
                         train_on_coded_gradients<Options, coded_average>,
                         scatter_reduce_fields<Options>("gradients"),
                         {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::bytegrad
