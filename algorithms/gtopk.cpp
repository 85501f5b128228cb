// gTop-k S-SGD: of the largest elements of all gradients the largest (Shi et al., arXiv
// 1901.04359).
//
//   v = g_i(x) + e_i;  c_i = the k largest elements of v
//   c = c_1 + ... + c_P, in pairs up a tree, of every sum the k largest elements
//   e_i = v, but 0 where both c_i and c have an element
//   x = x - lr U(1/P c)
//
// What a rank has chosen and the others have not goes back to its residual. What was left out in
// the tree of an element that got to the root on another way is lost, in the paper, too. The tree
// is binomial and any number of ranks make one. A merge decodes two codes and chooses among all
// elements of their sum, which takes longer than to merge two lists of k. All ranks step along k
// elements, where with topk those of all ranks add up: the same density is less here.
//
// Steps and bytes per rank and iteration, with C_b = 8 k_b bytes per bucket (value and index):
// every edge of the tree takes a message of C_b up and one down, so of 2 ceil(lg P) messages that
// wait for one another the last rank gets what the first one sent, 16 k lg P bytes in all; a rank
// of d children sends d + 1 of them, the root d. Memory: the residual, and two buckets of scratch.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "core/codecs/density.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  double density = 0.01;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const CodecSpec largest{"topk", {{"density", options.density}}};
  const auto average = across(
      run.execution, tree_average({.codec = largest, .error_feedback = true, .seed = run.seed}));
  for ([[maybe_unused]] long t : run.steps) gradient_step(ctx, run, *comm, average);
}

}  // namespace

AlgorithmEntry gtopk_entry() {
  return algorithm_entry(
      {.name = "gtopk",
       .doc = "Synchronous SGD on the largest elements of all gradients, merged up a tree",
       .trigram = kSyncLowCentralised,
       .execution_options = "OFH",
       .source = "Shi et al., gTop-k S-SGD, arXiv 1901.04359"},
      train,
      FieldTable<Options>{}.field("density", &Options::density, density_kind(),
                                  "Share of the elements that are chosen: k / number of elements"));
}

}  // namespace trigram
