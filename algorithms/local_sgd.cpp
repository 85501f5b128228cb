// Local SGD: workers step alone and average their models every H steps (Stich, arXiv 1805.09767).
//
//   x_i = x_i - lr U(g_i(x_i));  every H steps: x_i = 1/P sum_j x_j
//
// With H = 1 the workers average after every step. The state of the optimizer stays local. With a
// quorum, an average does not wait for late workers (membership/group_average.h), and training goes
// on without workers that fail. With the option `adapt_every`, H falls with the loss
// (execution/adaptive_period.h), as in AdaComm (Wang and Joshi, arXiv 1810.08313).
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages (per
// bucket), 2(P-1)/P S bytes; with `adapt_every` also lg P messages of 8 bytes.

#include <optional>

#include "algorithms/entries.h"
#include "algorithms/execution/adaptive_period.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/host_passes.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"

namespace trigram::algorithm::local_sgd {
namespace {

struct Options {
  Execution execution;
  bool through_host = false;
  std::int64_t sync_every = 8;
  std::optional<double> adapt_every_s;
  AllreduceSpec allreduce;
  Quorum quorum;
  bool needs_values() const { return adapt_every_s.has_value(); }
};

void train_with_late_workers(Context ctx, Run& run, const Options& options) {
  const auto average = [&options](std::vector<int> members) {
    return average_among(std::move(members), options.allreduce);
  };
  train_with_quorum(ctx, run, options.sync_every, options.quorum, average, nullptr);
}

void train(Context ctx, Run& run, const Options& options) {
  if (options.quorum.workers > 0) return train_with_late_workers(ctx, run, options);
  auto comm = ctx.stream->fork("comm");
  const HostPasses host(options.through_host);
  const auto mean = full_average(options.allreduce);
  const auto average = across(run.execution, [mean, host](Context c, const Tensor& x, Slot slot) {
    mean(c, x, slot);
    host.add(x);
  });
  if (options.adapt_every_s) {
    AdaptivePeriod period(ctx, options.sync_every, *options.adapt_every_s, run.state);
    for ([[maybe_unused]] long t : run.steps) {
      const bool due = period.due();
      local_step(ctx, run, *comm, average, due);
      host.charge(ctx);
      period.end_step(run.workload.loss());
      if (due) period.end_block(ctx, *comm);
    }
    return;
  }
  for (long t : run.steps) {
    local_step(ctx, run, *comm, average, (t + 1) % options.sync_every == 0);
    host.charge(ctx);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout& layout) {
  ExchangeSchedule schedule = quorum_schedule(options, layout);
  if (options.adapt_every_s) schedule.cycle.reset();  // losses decide when the workers average
  return schedule;
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  check_quorum(options.quorum, options.execution, layout, pointer);
  if (options.quorum.workers > 0 && options.through_host)
    throw ConfigError(child(pointer, "through_host"), "expected false beside a \"quorum\"");
  if (options.quorum.workers > 0 && options.adapt_every_s)
    throw ConfigError(child(pointer, "adapt_every"), "expected null beside a \"quorum\"");
}

}  // namespace

AlgorithmEntry local_sgd_entry() {
  return algorithm_entry(
      {.name = "local_sgd",
       .doc = "Workers step alone and average their models every few steps",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "FH",
       .source = "Stich, Local SGD, arXiv 1805.09767",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("through_host", &Options::through_host, boolean(), kThroughHost)
          .field("sync_every", &Options::sync_every, integer(1),
                 "H: steps between averages; with `adapt_every`, between the first two")
          .field("adapt_every", &Options::adapt_every_s,
                 optional(quantity(Dimension::duration, true)),
                 "Time after which H becomes its first value times the root of the loss relative "
                 "to the first one; null: H is constant")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce")
          .include(&Options::quorum, quorum_fields()),
      {.schedule = schedule,
       .check = check,
       .dispensable = [](const Options& options, const Layout& layout) {
         return options.quorum.workers > 0 ? all_ranks(layout) : Workers{};
       }});
}

}  // namespace trigram::algorithm::local_sgd
