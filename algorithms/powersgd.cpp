// PowerSGD: approximates the gradient of every bucket, taken as a matrix, by a matrix of low rank
// (Vogels, Karimireddy, Jaggi, arXiv 1905.13727, Algorithms 1 and 2).
//
//   M_i = g_i(x) + e_i;  P = orthonormalise(mean_j M_j Q);  Q = mean_j M_j^T P;  e_i = M_i - P Q^T
//   x = x - lr U(P Q^T)
//
// A step is one power iteration of the mean of all M_i, although no rank ever computes that mean. Q
// has r columns and is kept for the next step. A random direction replaces a column of P that
// depends linearly on the columns before it, so that later steps find directions that M_i lacks
// now. The error e_i is the difference between the rank's own M_i and the common P Q^T, as in the
// authors' code. A bucket is reshaped to the most nearly square matrix that holds it, whichever
// tensors it consists of. For this reason the default rank is the largest rank in the paper. A
// bucket that is not longer than its factors is averaged without approximation.
//
// Messages and bytes per rank and iteration, for N ranks and buckets of a x b elements: two
// allreduces, of 4ra and 4rb bytes; with rings, 4(N-1) messages and 2(N-1)/N 4r(a + b) bytes per
// bucket.

#include "algorithms/entries.h"
#include "algorithms/execution/low_rank_average.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::powersgd {
namespace {

struct Options {
  Execution execution;
  LowRank low_rank;
};

void train(Context ctx, Run& run, const Options& options) {
  train_on_gradients(ctx, run, low_rank_average(options.low_rank, run.seed, run.state));
}

}  // namespace

AlgorithmEntry powersgd_entry() {
  return algorithm_entry(
      {.name = "powersgd",
       .doc = "Synchronous SGD on low-rank approximations of the gradients",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Vogels et al., PowerSGD, arXiv 1905.13727"},
      train, FieldTable<Options>{}.include(&Options::low_rank, low_rank_fields("gradient")));
}

}  // namespace trigram::algorithm::powersgd
