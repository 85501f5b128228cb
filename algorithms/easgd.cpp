// EASGD, elastic averaging SGD, synchronous (Zhang, Choromanska and LeCun, arXiv 1412.6651).
//
//   x_i = x_i - lr U(g_i(x_i));  every tau steps, with d_i = x_i - c:
//     x_i = x_i - alpha d_i;  c = c + alpha sum_j d_j          alpha = beta/P
//
// An elastic force pulls the P workers towards a centre c, and pulls the centre towards them, so
// workers stay apart and explore. Every rank keeps a copy of the centre and moves it by beta times
// the mean of all d_j; the mean comes from an allreduce, which takes the place of the paper's
// server. As in the paper, the result of training is the centre: the last step ends with an
// exchange, whatever tau is, and then all workers' weights become the centre. (An evaluation before
// the last step uses the mean of the workers' models.) We restate the equations here and do not
// quote numbers of the paper. The state of the optimizer stays local.
//
// Messages and bytes per rank and exchange, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes. If weights are exchanged in buckets (option `bucket`), each bucket takes 2(P-1)
// messages, one bucket after another. Memory: two more models.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::easgd {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 4;
  double beta = 0.9;
  AllreduceSpec allreduce;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(options.allreduce));
  const Tensor x = run.workload.weights();
  const Tensor centre = run.state.copy_of(ctx, "centre", x);
  const Tensor difference = ctx.device->empty_like(x);
  const auto beta = static_cast<float>(options.beta);
  for (long t : run.steps) {
    local_step(ctx, run);
    const bool last = run.steps.last_of_run(t);
    if ((t + 1) % options.sync_every != 0 && !last) continue;
    ctx.device->copy(difference, x);
    ctx.device->axpby(-1, centre, 1, difference);
    ctx.device->axpby(-beta / static_cast<float>(ctx.world_size), difference, 1, x);
    exchange_on(*comm, ctx, run, difference, average);
    ctx.device->axpby(beta, difference, 1, centre);
    if (last) ctx.device->copy(x, centre);
  }
}

}  // namespace

AlgorithmEntry easgd_entry() {
  return algorithm_entry(
      {.name = "easgd",
       .doc = "Workers step alone, held by springs to a centre that they pull along",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Zhang et al., EASGD, arXiv 1412.6651",
       .exchanges_weights = true,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "tau: steps between exchanges")
          .field("beta", &Options::beta, number(0, 1, Open::below),
                 "Share of its distance to the workers' mean that the centre moves in an exchange")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"));
}

}  // namespace trigram::algorithm::easgd
