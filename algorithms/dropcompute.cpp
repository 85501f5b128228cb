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

constexpr long kStepsWithoutDrops = 3;  // at the start, if the threshold is given
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Adds up the gradients of micro-batches until all are done or the threshold has passed. Returns
/// the end of each micro-batch, in seconds after `begin`.
std::vector<double> compute(Context ctx, Run& run, const Options& options, const Tensor& sum,
                            double begin, double threshold) {
  std::vector<double> ends;
  const Tensor gradients = run.workload.gradients();
  const auto M = static_cast<std::size_t>(options.micro_batches);
  do {
    compute_gradients(ctx, run);
    ctx.device->axpby(1, gradients, ends.empty() ? 0 : 1, sum);
    ctx.stream->synchronize();
    ends.push_back(ctx.stream->now() - begin);
  } while (ends.size() < M && ends.back() <= threshold);
  run.steps.record_batches(static_cast<long>(ends.size()));
  const std::size_t divisor = options.divisor == Divisor::all ? M : ends.size();
  ctx.device->axpby(1 / static_cast<float>(divisor), sum, 0, gradients);
  return ends;
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(options.allreduce));
  const Tensor sum = ctx.device->empty_like(run.workload.gradients());
  const double given = options.threshold_s.value_or(kNever);
  const bool automatic = !options.threshold_s && options.profile_steps > 0;
  const auto profiled = static_cast<std::size_t>(automatic ? options.profile_steps : 0);
  const auto M = static_cast<std::size_t>(options.micro_batches);
  double begin = ctx.stream->now(), &threshold = run.state.value("threshold", kNever);
  const auto end_s = run.state.values<double>("end_s", profiled * M),
             exchange_s = run.state.values<double>("exchange_s", profiled);
  for (long t : run.steps) {
    if (t == kStepsWithoutDrops && !automatic) threshold = given;
    const std::vector<double> ends = compute(ctx, run, options, sum, begin, threshold);
    exchange_and_update(ctx, run, *comm, average);
    ctx.stream->synchronize();
    if (automatic && t < options.profile_steps) {
      const auto i = static_cast<std::size_t>(t);
      std::ranges::copy(ends, end_s.subspan(i * M).begin());
      exchange_s[i] = ctx.stream->now() - begin - ends.back();
      const ComputeTimes times{{end_s.begin(), end_s.end()},
                               {exchange_s.begin(), exchange_s.end()}};
      if (t + 1 == options.profile_steps)
        threshold = agree_on_threshold(ctx, times, static_cast<int>(M));
    }
    begin = ctx.stream->now();
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  if (options.threshold_s)
    return {.cycle = Cycle{.first_step = kStepsWithoutDrops, .exact = false}};
  return {.cycle = Cycle{.first_step = options.profile_steps, .exact = options.profile_steps == 0}};
}

}  // namespace

AlgorithmEntry dropcompute_entry() {
  return algorithm_entry(
      {.name = "dropcompute",
       .doc = "Synchronous SGD whose workers drop micro-batches when a step takes too long",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Giladi et al., DropCompute, arXiv 2306.10598",
       .accumulates_by = "micro_batches"},
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
