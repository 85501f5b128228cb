// Top-k sparsified SGD with error feedback (Aji and Heafield, arXiv 1704.05021; Stich et al., arXiv
// 1809.07599), by allgather ("TopK-A").
//
//   v = g_i(x) + e_i;  c_i = the k largest elements of v;  e_i = v - c_i;  g = 1/P sum_j c_j
//   x = x - lr U(g)
//
// The sum of the sparse vectors of different ranks is less sparse than each of them, so every rank
// receives all vectors: in a ring, P-1 messages and (P-1) C_b bytes per bucket, with C_b = 8 k_b
// bytes (value and index). This sends less than an allreduce while 4 P k_b is below the size of the
// bucket.

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::topk {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"topk"};
  bool error_feedback = true;
};

}  // namespace

AlgorithmEntry topk_entry() {
  return algorithm_entry(
      {.name = "topk",
       .doc = "Synchronous SGD on the largest elements of each gradient",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Stich et al., arXiv 1809.07599; Renggli et al., SparCML, arXiv 1802.08021"},
      train_on_coded_gradients<Options, gathered_average>, coding_fields<Options>("gradients"),
      {.check = check_coding<Options>});
}

}  // namespace trigram::algorithm::topk
