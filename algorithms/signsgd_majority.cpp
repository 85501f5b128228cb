// signSGD with majority vote: every element goes where most workers' gradients point (Bernstein et
// al., arXiv 1802.04434, 1810.05291).
//
//   x = x - lr U(sign(sum_j sign(g_j(x))))          sign(0) = +1, so a tied vote is one for +1
//
// Nothing is fed back: a step is as long as lr says, however small the gradient, so lr is that of a
// method of signs, and must decay for the weights to settle. The paper counts at a server; here
// each rank counts the votes on its chunk of 1/P of a bucket. Steps and bytes per rank and
// iteration, P exchanging ranks, C_b = n/8 + 4 bytes of code per bucket of n elements: 2(P-1)
// messages and 2(P-1)/P C_b bytes per bucket (4 bytes of every message say whether all is finite).

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  SecondPhase phase2 = SecondPhase::allgather;
  // No options: another code would be no vote.
  CodecSpec codec{"sign", {{"scale", "one"}}};
  bool error_feedback = false;
};

}  // namespace

AlgorithmEntry signsgd_majority_entry() {
  return algorithm_entry(
      {.name = "signsgd_majority",
       .doc = "Synchronous SGD on a majority vote of the workers' gradient signs",
       .trigram = kSyncLowCentralised,
       .execution_options = "OFH",
       .source = "Bernstein et al., signSGD, arXiv 1802.04434, 1810.05291"},
      train_on_coded_gradients<Options, coded_average>,
      FieldTable<Options>{}.field("phase2", &Options::phase2, second_phase_kind(),
                                  "How counted votes get from the ranks that count them to all "
                                  "workers: sent directly, or around a ring"));
}

}  // namespace trigram
