// Elastic averaging SGD, synchronous (Zhang, Choromanska and LeCun, arXiv 1412.6651).
//
//   x_i = x_i - lr U(g_i(x_i));  every H steps, with d_i = x_i - c:
//     x_i = x_i - (beta / P) d_i;  c = c + beta/P sum_j d_j
//
// The center c pulls the workers with a spring and is itself pulled by all; every rank keeps a
// copy. Steps and bytes per rank and exchange, S bytes of model, ring: 2(P-1) messages, 2(P-1)/P S
// bytes.

#include "easgd.h"

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"

using namespace trigram;

namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 4;
  double beta = 0.9;
};

class Easgd final : public Algorithm {
 public:
  explicit Easgd(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    auto comm = ctx.stream->fork("comm");
    const auto average = across(run.execution, full_average(AllreduceAlgorithm::ring));
    const Tensor x = run.workload.weights();
    const Tensor center = ctx.device->empty_like(x), apart = ctx.device->empty_like(x);
    ctx.device->copy(center, x);
    const auto beta = static_cast<float>(options_.beta);
    for (long t : run.steps) {
      local_step(ctx, run);
      if ((t + 1) % options_.sync_every != 0) continue;
      ctx.device->copy(apart, x);
      ctx.device->axpby(-1, center, 1, apart);
      ctx.device->axpby(-beta / static_cast<float>(ctx.world_size), apart, 1, x);
      exchange_on(*comm, ctx, run, apart, average);
      ctx.device->axpby(beta, apart, 1, center);
    }
  }

 private:
  Options options_;
};

}  // namespace

AlgorithmEntry easgd_entry() {
  return algorithm_entry<Easgd>(
      {.name = "easgd",
       .doc = "Workers step alone, held by springs to a center that they pull along",
       .trigram = kSyncFullCentralised,
       .execution_options = "H",
       .source = "Zhang et al., arXiv 1412.6651"},
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "Steps from exchange to exchange")
          .field("beta", &Options::beta, number(0, 1),
                 "How far the center goes towards the mean of the workers at an exchange"));
}
