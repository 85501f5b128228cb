// Synchronous data-parallel SGD: every worker steps with the mean gradient.
//
//   g = 1/P sum_j g_j(x);  x = x - lr U(g)
//
// Steps and bytes per rank and iteration, for S bytes of gradient in buckets of S_b, ring:
//   2(P-1) messages per bucket, 2(P-1)/P S bytes; hierarchical: the same between node leaders, with
//   a binomial reduction and broadcast of S inside each node.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/options.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  AllreduceSpec allreduce;
};

class GradientAllreduce final : public Algorithm {
 public:
  explicit GradientAllreduce(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    auto comm = ctx.stream->fork("comm");
    const auto average = across(run.execution, full_average(options_.allreduce));
    for ([[maybe_unused]] long t : run.steps) gradient_step(ctx, run, *comm, average);
  }

 private:
  Options options_;
};

}  // namespace

AlgorithmEntry gradient_allreduce_entry() {
  return algorithm_entry<GradientAllreduce>(
      {.name = "gradient_allreduce",
       .doc = "Synchronous SGD on the mean gradient",
       .trigram = kSyncFullCentralised,
       .execution_options = "OFH",
       .source = "Sergeev and Del Balso, Horovod, arXiv 1802.05799; BAGUA, arXiv 2107.01499"},
      FieldTable<Options>{}.field("allreduce", &Options::allreduce, allreduce_kind(),
                                  "Algorithm of the allreduce"));
}

}  // namespace trigram
