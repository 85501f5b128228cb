// signSGD with majority vote: every element moves in the direction in which most workers' gradients
// point (Bernstein et al., arXiv 1802.04434, 1810.05291).
//
//   x = x - lr U(sign(sum_j sign(g_j(x))))          sign(0) = +1, so a tie counts as +1
//
// There is no error feedback. Every element moves by lr (for plain SGD), however small the gradient
// is, so lr must be chosen for a sign-based method, and must decay for the weights to converge. In
// the paper a server counts the votes; here each rank counts the votes on its chunk of 1/P of a
// bucket.
//
// Messages and bytes per rank and iteration, for P exchanging ranks and C_b = n/8 + 4 bytes of code
// per bucket of n elements: 2(P-1) messages and 2(P-1)/P C_b bytes per bucket (4 bytes of every
// message tell whether all elements are finite).

#include "algorithms/entries.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/options.h"

namespace trigram::algorithm::signsgd_majority {
namespace {

struct Options {
  Execution execution;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
  // These are no options for users: with another codec there would be no vote.
  CodecSpec codec{"sign", {{"scale", "one"}}};
  bool error_feedback = false;
};

}  // namespace

AlgorithmEntry signsgd_majority_entry() {
  return algorithm_entry(
      {.name = "signsgd_majority",
       .doc = "Synchronous SGD on a majority vote of the workers' gradient signs",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Bernstein et al., signSGD, arXiv 1802.04434, 1810.05291"},
      train_on_coded_gradients<Options, coded_average>,
      with_phase_fields(FieldTable<Options>{},
                        "How counted votes get from the ranks that count them to all workers: sent "
                        "directly, or around a ring"));
}

}  // namespace trigram::algorithm::signsgd_majority
