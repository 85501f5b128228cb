// 0/1 Adam: exchanges signs from the first step, updates the variance ever less often, and makes
// local steps once the variance is frozen (Lu et al., arXiv 2202.06009; schedules as in DeepSpeed's
// code).
//
//   t < freeze_step, every K-th step:  g = 1/P sum_j g_j(x);  Adam(g)
//     other steps:                     g = C(1/P sum_j C(g_j(x)))
//                                      m = b1 m + (1 - b1) g;  x = x - lr m / (sqrt(v) + eps)
//   after:  m_i = b1 m_i + (1 - b1) g_i(x_i);  u_i = u_i + lr m_i
//           x_i = x_i - lr m_i / (sqrt(v) + eps)
//     every H-th step:  u = C(1/P sum_j C(u_j));  m_i = u / (sum of lr since the last average)
//                       u_i = 0;  x_i = x_0 = x_0 - u / (sqrt(v) + eps)
//
// K starts at 1 and doubles after every `variance_doubling` updates. H also starts at 1; it doubles
// after every `local_doubling` steps, up to `max_local_steps`. C(x) is the sign of every element
// times a common scale, with error feedback at the worker and at the owner of each chunk. Gradients
// and u have separate residuals. Unlike DeepSpeed's code, this implementation keeps Adam's bias
// corrections: the correction of v counts the updates of v, and the correction of m counts all
// steps. Local steps after the last average are not exchanged.
//
// Messages and bytes per rank, for P exchanging ranks: in steps that update v, those of an
// allreduce; in the other steps before freeze_step, and for every average, 2(P-1) messages and
// 2(P-1)/P C_b bytes per bucket, with C_b = S_b/32 + 4P bytes, the signs and the scales of P
// chunks. Memory: two models (u, x_0), and the residuals of both encodings.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/coded_training.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/local_moments.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::zeroone_adam {
namespace {

struct Options {
  Execution execution;
  CodecSpec codec{"sign"};
  bool error_feedback = true;
  SecondPhase phase2 = SecondPhase::allgather;
  Shares shares = Shares::equal;
  AllreduceSpec allreduce;
  std::int64_t freeze_step = 100;
  std::int64_t variance_doubling = 16;
  std::int64_t local_doubling = 32678;  // local_step_scaler of DeepSpeed's code
  std::int64_t max_local_steps = 16;
};

void train(Context ctx, Run& run, const Options& options) {
  Coding coding = coding_of(options, run);
  const auto average_exact = across(run.execution, full_average(options.allreduce));
  const auto average_coded = across(run.execution, coded_average(coding));
  coding.state = run.state.child("moved");
  const auto average_moved_coded = across(run.execution, coded_average(coding));
  auto comm = ctx.stream->fork("comm");
  LocalMoments local(ctx, run);
  const auto gradient = [](Bucket& bucket) { return bucket.grad; };
  const auto along_moment = [&](Bucket& bucket) {
    run.optimizer.accumulate(ctx, bucket);
    run.optimizer.advance(ctx, bucket);
  };
  DoublingInterval variance_interval(options.variance_doubling, options.freeze_step,
                                     run.state.child("variance")),
      average_interval(options.local_doubling, options.max_local_steps,
                       run.state.child("averages"));
  run.optimizer.freeze_corrections();  // for steps that leave the variance unchanged
  for (long t : run.steps) {
    if (t < options.freeze_step && variance_interval.ends_at(t)) {
      gradient_step(ctx, run, *comm, average_exact);
      variance_interval.count();
    } else if (t < options.freeze_step) {
      exchange_step(ctx, run, *comm, average_coded, gradient, along_moment);
    } else {
      const long since = t - options.freeze_step;
      if (since == 0) local.begin(ctx, run);
      local.step(ctx, run, *comm, average_moved_coded, average_interval.ends_at(since));
      average_interval.count();
    }
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  const DoublingInterval averages(options.local_doubling, options.max_local_steps);
  return {.cycle = Cycle{.first_step = options.freeze_step + averages.counts_to_maximum(),
                         .steps = options.max_local_steps}};
}

}  // namespace

AlgorithmEntry zeroone_adam_entry() {
  return algorithm_entry(
      {.name = "zeroone_adam",
       .doc = "Adam on signs: the variance is updated less and less often, then local steps begin",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Lu et al., 0/1 Adam, arXiv 2202.06009",
       .exchanges_moment = true,
       .own_models = true},
      train,
      scatter_reduce_fields<Options>("gradients and sums of moments")
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Algorithm of the allreduce in steps that update the variance")
          .field("freeze_step", &Options::freeze_step, integer(1, 1 << 30),
                 "Steps before the variance is frozen and local steps begin")
          .field("variance_doubling", &Options::variance_doubling, integer(1, 1 << 30),
                 "Updates of the variance after which the interval between them doubles")
          .field("local_doubling", &Options::local_doubling, integer(1, 1 << 30),
                 "Local steps after which the interval between averages doubles")
          .field("max_local_steps", &Options::max_local_steps, integer(1, 1 << 30),
                 "The longest interval between averages, in steps"),
      {.schedule = schedule, .check = check_coding<Options>});
}

}  // namespace trigram::algorithm::zeroone_adam
