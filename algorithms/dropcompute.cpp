// DropCompute: synchronous SGD whose workers stop computing when a step takes too long (Giladi et
// al., arXiv 2306.10598).
//
//   g_i = 1/M sum of the gradients of m_i micro-batches;  x = x - lr U(1/P sum_j g_j)
//
// Worker i stops after M micro-batches, or after the first one that ends more than a threshold
// after its last optimizer step.
//
// A micro-batch is one mini-batch of the workload, so a full step uses M of them. With the option
// `divisor`: done, the sum is divided by m_i instead of M; the reference code also offers this. In
// the first steps of a run no micro-batch is dropped: an automatic threshold is computed from the
// times of these steps (execution/compute_threshold.h). Since any micro-batch may turn out to be
// the last of its step, the exchange does not overlap with computation.
//
// Messages and bytes per rank and iteration, for S bytes of gradient and a ring: 2(P-1) messages
// per bucket, 2(P-1)/P S bytes. For an automatic threshold, once per run: I (M + 1) control
// messages from each rank to rank 0 and one back, where I is `profile_steps`. Memory: one model.

#include <limits>
#include <vector>

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/compute_threshold.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "core/config/option_type.h"
#include "core/config/units.h"

namespace trigram::algorithm::dropcompute {
namespace {

enum class Divisor { all, done };

struct Options {
  Execution execution;
  std::int64_t micro_batches = 8;
  std::optional<double> threshold_s;
  std::int64_t profile_steps = 20;
  Divisor divisor = Divisor::all;
  AllreduceSpec allreduce;
};

constexpr long kFirst = 3;  // number of steps without drops if the threshold is given
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Adds up the gradients of micro-batches until all are done or the threshold has passed. Returns
/// the time at which each was done, in seconds after `begin`.
std::vector<double> compute(Context ctx, Run& run, const Options& options, const Tensor& sum,
                            double begin, double threshold) {
  std::vector<double> done;
  const Tensor gradients = run.workload.gradients();
  const auto M = static_cast<std::size_t>(options.micro_batches);
  do {
    compute_gradients(ctx, run);
    ctx.device->axpby(1, gradients, done.empty() ? 0 : 1, sum);
    ctx.stream->synchronize();
    done.push_back(ctx.stream->now() - begin);
  } while (done.size() < M && done.back() <= threshold);
  run.steps.record_batches(static_cast<long>(done.size()));
  const std::size_t divisor = options.divisor == Divisor::all ? M : done.size();
  ctx.device->axpby(1 / static_cast<float>(divisor), sum, 0, gradients);
  return done;
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(options.allreduce));
  const Tensor sum = ctx.device->empty_like(run.workload.gradients());
  const double given = options.threshold_s.value_or(kNever);
  const bool finds = !options.threshold_s && options.profile_steps > 0;
  double threshold = kNever, begin = ctx.stream->now();
  ComputeTimes times;
  for (long t : run.steps) {
    if (t == kFirst && !finds) threshold = given;
    const std::vector<double> done = compute(ctx, run, options, sum, begin, threshold);
    step_exchanged(ctx, run, *comm, average);
    ctx.stream->synchronize();
    if (finds && t < options.profile_steps) {
      times.done_s.insert(times.done_s.end(), done.begin(), done.end());
      times.exchange_s.push_back(ctx.stream->now() - begin - done.back());
      if (t + 1 == options.profile_steps)
        threshold = agree_on_threshold(ctx, times, static_cast<int>(options.micro_batches));
    }
    begin = ctx.stream->now();
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  if (options.threshold_s) return {.cycle = Cycle{.first_step = kFirst, .exact = false}};
  return {.cycle = Cycle{.first_step = options.profile_steps, .exact = options.profile_steps == 0}};
}

}  // namespace

AlgorithmEntry dropcompute_entry() {
  return algorithm_entry(
      {.name = "dropcompute",
       .doc = "Synchronous SGD whose workers drop micro-batches when a step takes too long",
       .trigram = kSyncFullCentralised,
       .execution_options = "FH",
       .source = "Giladi et al., DropCompute, arXiv 2306.10598"},
      train,
      FieldTable<Options>{}
          .field("micro_batches", &Options::micro_batches, integer(1, 1 << 20),
                 "M: mini-batches of the workload per step; fewer if the threshold passes")
          .field("threshold", &Options::threshold_s, optional(quantity(Dimension::duration, true)),
                 "Time since its last optimizer step after which a worker stops computing; null: "
                 "chosen automatically")
          .field(
              "profile_steps", &Options::profile_steps, integer(0, 1 << 20),
              "I: steps without drops from which the automatic threshold is chosen; 0: never drop")
          .only_where([](const Options& o) { return !o.threshold_s; },
                      "has no effect beside a threshold; remove one of the two")
          .field("divisor", &Options::divisor,
                 one_of<Divisor>({{"all", Divisor::all}, {"done", Divisor::done}}),
                 "Divisor of the sums of gradients. all: M; done: the number of micro-batches that "
                 "the worker has done")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::dropcompute
