// gTop-k S-SGD: the globally largest elements among the largest elements of all gradients (Shi et
// al., arXiv 1901.04359).
//
//   v = g_i(x) + e_i;  c_i = the k largest elements of v
//   c = c_1 + ... + c_P, added in pairs up a tree; every partial sum keeps its k largest elements
//   e_i = v, but 0 where both c_i and c have an element
//   x = x - lr U(1/P c)
//
// An element that a rank has selected but that is not in c returns to the rank's residual. If
// partial sums have dropped contributions to an element that is in c nevertheless, these
// contributions are lost, as in the paper. The tree is binomial and works for any number of ranks.
// A merge decodes two codes and selects among all elements of their sum, which takes longer than
// merging two lists of k elements. A step changes k elements in all. In the algorithm topk a step
// changes the selected elements of all ranks, so the same density changes fewer elements here.
//
// Messages and bytes per rank and iteration, with C_b = 8 k_b bytes per bucket (value and index):
// every edge of the tree carries one message of C_b bytes up and one down. Hence the critical path
// has 2 ceil(lg P) messages, 16 k lg P bytes in all. A rank with d children sends d + 1 messages;
// the root sends d. Memory: the residual, and two buckets of scratch.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "core/codecs/options.h"

namespace trigram::algorithm::gtopk {
namespace {

struct Options {
  Execution execution;
  double density = 0.01;
};

void train(Context ctx, Run& run, const Options& options) {
  const CodecSpec largest{"topk", {{"density", options.density}}};
  train_on_gradients(
      ctx, run,
      tree_average(
          {.codec = largest, .error_feedback = true, .seed = run.seed, .state = run.state}));
}

}  // namespace

AlgorithmEntry gtopk_entry() {
  return algorithm_entry(
      {.name = "gtopk",
       .doc = "Synchronous SGD on the largest elements of all gradients, merged up a tree",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Shi et al., gTop-k S-SGD, arXiv 1901.04359"},
      train,
      FieldTable<Options>{}.field("density", &Options::density, density_kind(),
                                  "Share of the elements that are chosen: k / number of elements"));
}

}  // namespace trigram::algorithm::gtopk
