// SwarmSGD: workers step alone and average their models in random pairs (Nadiradze et al., arXiv
// 1910.12308).
//
//   x_i = x_i - lr U(g_i(x_i)), H times, or a geometric number of times with the mean H; then
//   blocking:      x_i, x_j = (x_i + x_j) / 2
//   non_blocking:  x_i = x_i + (s_j - s_i) / 2, x_j = x_j + (s_i - s_j) / 2, where s are the models
//                                   of the two workers after their latest steps; both continue to
//                                   step meanwhile
//
// We restate the equations here and do not quote numbers of the paper. In the paper one pair
// averages at a time. Here every round pairs all workers at random (if their number is odd, one
// worker is left out), and is due after the same number of steps on all workers. So no worker sends
// requests, and no cycle of waits arises.
//
// In blocking mode a worker waits for its partner, so in each round every delayed worker delays one
// other worker. In non-blocking mode a round takes place as soon as the first worker reaches it. No
// worker waits for the steps of another worker, only for the messages of its own last round. A slow
// worker averages more often per step, and trains alone once the other workers have ended.
//
// If workers come and go, a round pairs those that are there when the first of them reaches it.
//
// Messages and bytes per rank and round, for a model of S bytes: one message of S bytes; in
// non-blocking mode also P-1 control messages in all. Memory beside the weights: 1 model in
// blocking mode, 4 in non-blocking mode.

#include "algorithms/asynchronous/model_averager.h"
#include "algorithms/asynchronous/partial_collective.h"
#include "algorithms/entries.h"
#include "algorithms/execution/parts.h"
#include "algorithms/membership/group_average.h"
#include "algorithms/options.h"
#include "algorithms/peers/random_pairs.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::swarm_sgd {
namespace {

enum class Mode { blocking, non_blocking };

struct Options {
  Execution execution;
  Mode mode = Mode::non_blocking;
  std::int64_t local_steps = 4;
  Interval interval = Interval::fixed;
};

using Plan = std::shared_ptr<const RandomPairs>;

void average_between_steps(Context ctx, Run& run, const Plan& pairs) {
  auto comm = ctx.stream->fork("comm");
  long next = pairs->due_before(run.steps.current());
  for (long t : run.steps) {
    const bool due = pairs->due_after(t, next);
    const auto average = [pairs, next](Context c, const Tensor& x, Slot) {
      d_fp_s(c, x, pairs->peers(c.rank(), c.size(), next));
    };
    local_step(ctx, run, *comm, average, due);
    if (due) ++next;
  }
}

void average_during_steps(Context ctx, Run& run, const Plan& pairs) {
  const auto averager = std::make_shared<ModelAverager>(ctx, run, std::vector<int>{}, std::nullopt);
  const long first = pairs->due_before(run.steps.current());
  long next = first;
  PartialCollective agent(ctx, "averager",
                          {.versions = pairs->count(),
                           .initiator = [](long) { return Activation::kAnyRank; },
                           .execute =
                               [averager, pairs](Context c, long round) {
                                 const Peers partner = pairs->peers(c.rank(), c.size(), round);
                                 for (const int rank : partner.send_to) averager->average(c, rank);
                               },
                           .first = first});
  for (long t : run.steps) {
    averager->model.step(ctx, run);
    if (!pairs->due_after(t, next)) continue;
    if (next > first) agent.wait(ctx, next - 1);
    agent.announce(ctx, next++);
  }
  if (next > first) agent.wait(ctx, next - 1);
  averager->model.refresh_weights(ctx);
}

void average_members(Context ctx, Run& run, const Plan& pairs, Mode mode) {
  const auto pair_of = [pairs](int index, int count, long round) {
    return pairs->pair_of(index, count, round);
  };
  const auto due = [pairs](long t) {
    return DueRounds{pairs->due_before(t), pairs->due_before(t + 1)};
  };
  if (mode == Mode::blocking) train_in_groups(ctx, run, pair_of, due, {});
  else train_in_background_groups(ctx, run, pair_of, due);
}

void train(Context ctx, Run& run, const Options& options) {
  const Plan pairs = std::make_shared<const RandomPairs>(run.seed, options.interval,
                                                         options.local_steps, run.steps.count());
  if (run.membership) average_members(ctx, run, pairs, options.mode);
  else if (options.mode == Mode::blocking) average_between_steps(ctx, run, pairs);
  else average_during_steps(ctx, run, pairs);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  ExchangeSchedule schedule{.cycle = std::nullopt, .interval_steps = options.local_steps};
  if (options.interval == Interval::fixed)
    schedule.cycle = Cycle{.steps = options.local_steps, .exact = false};
  return schedule;
}

}  // namespace

AlgorithmEntry swarm_sgd_entry() {
  return algorithm_entry(
      {.name = "swarm_sgd",
       .doc = "Workers step alone and average their models in random pairs",
       .trigram = kAsyncFullPrecisionDecentralised,
       .execution_options = "",
       .source = "Nadiradze et al., SwarmSGD, arXiv 1910.12308"},
      train,
      FieldTable<Options>{}
          .field("mode", &Options::mode,
                 one_of<Mode>({{"blocking", Mode::blocking}, {"non_blocking", Mode::non_blocking}}),
                 "Whether workers wait for their partner, or continue while models are averaged")
          .field("local_steps", &Options::local_steps, integer(1, 1 << 30),
                 "H: steps between averages; their mean if `interval` is geometric")
          .field(
              "interval", &Options::interval,
              one_of<Interval>({{"fixed", Interval::fixed}, {"geometric", Interval::geometric}}),
              "Number of steps between averages: always H, or drawn from a geometric distribution"),
      {.schedule = schedule,
       .dispensable = [](const Options&, const Layout& layout) { return all_ranks(layout); }});
}

}  // namespace trigram::algorithm::swarm_sgd
