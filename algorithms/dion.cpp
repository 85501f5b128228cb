// Dion: orthonormal updates of low rank, for which ranks average factors and no gradients (Ahn et
// al., arXiv 2504.05295).
//
//   M_i = M_i + g_i(x);  P = orthonormalise(mean_j M_j Q);  R = mean_j M_j^T P
//   M_i = M_i - (1 - mu) P R^T;  Q = R with columns of norm 1
//   x = x - lr sqrt(a / b) P Q^T
//
// for every matrix of a outputs and b inputs, with r columns in the factors P (a x r) and Q (b x
// r). What the factors miss stays in the momenta M_i, each rank's own, as with error feedback.
// Vectors (biases, tables of embeddings) are averaged in full and updated by Adam, with the same
// lr. The optimizer makes the step x - lr u and applies weight decay; it should be sgd without
// momentum. r is a share of the shorter side. A tensor of unknown shape, as in a profile, is taken
// as the most nearly square matrix that holds it; so is a bucket that cuts tensors. Q is drawn at
// random at first. The authors' QR factorisation replaces a column of P that depends on the others;
// here such a column is 0 for a step, and then a random direction.
//
// Messages and bytes per rank and iteration, for N ranks and buckets with matrices of a x b and v
// elements of vectors: two allreduces, of 4 (sum of r a + v) and 4 (sum of r b) bytes; with rings,
// 4 (N-1) messages and 2 (N-1)/N of these bytes per bucket. Memory: one more model, factors, and
// two copies of vectors.

#include "algorithms/entries.h"
#include "algorithms/execution/orthonormal_update.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::dion {
namespace {

struct Options {
  Execution execution;
  OrthonormalUpdate update;
};

void train(Context ctx, Run& run, const Options& options) {
  train_on_gradients(
      ctx, run, orthonormal_update(options.update, run.workload.buckets(), run.seed, run.state));
}

FieldTable<OrthonormalUpdate> update_fields() {
  using O = OrthonormalUpdate;
  return FieldTable<O>{}
      .field("rank_fraction", &O::rank_fraction, number(0, 1, Open::below),
             "Columns of a matrix's factors, as a share of its shorter side, rounded up")
      .field("momentum", &O::momentum, number(0, 1, Open::above),
             "mu: share of the part of a matrix's momentum that was used which is kept")
      .field("beta1", &O::beta1, number(0, 1, Open::above), "vectors: decay of Adam's mean")
      .field("beta2", &O::beta2, number(0, 1, Open::above), "vectors: decay of Adam's variance")
      .field("eps", &O::eps, number(0, 1), "vectors: added to the root of Adam's mean square")
      .field("allreduce", &O::allreduce, allreduce_kind(), "Algorithm of the allreduces");
}

}  // namespace

AlgorithmEntry dion_entry() {
  return algorithm_entry({.name = "dion",
                          .doc = "Orthonormal updates of low rank, whose factors are averaged",
                          .trigram = kSyncLowPrecisionCentralised,
                          .execution_options = "OFH",
                          .source = "Ahn et al., Dion, arXiv 2504.05295"},
                         train, FieldTable<Options>{}.include(&Options::update, update_fields()));
}

}  // namespace trigram::algorithm::dion
