// SwarmSGD: workers step alone and average their models in random pairs (Nadiradze et al., arXiv
// 1910.12308).
//
//   x_i = x_i - lr U(g_i(x_i)), H times, or a geometric number of times with the mean H; then
//   blocking:      x_i, x_j = (x_i + x_j) / 2
//   non_blocking:  x_i = x_i + (s_j - s_i) / 2, x_j = x_j + (s_i - s_j) / 2, s the models after the
//                  latest step of each of the two, who go on with their steps meanwhile
//
// Equations restated here; numbers of the paper are not quoted. In the paper one pair meets at a
// time; here meeting m pairs all workers, at random, one of an odd number being left out, and after
// how many steps it is due is the same for all. So nobody has to be asked, and no two wait for each
// other in a circle.
//
// Blocking, a worker waits for its partner: a delay spreads to one more worker per meeting and
// worker that it has reached. Non-blocking, a meeting takes place when the first worker has come to
// it: nobody waits for anybody's steps, only for the messages of its last meeting; who is late is
// met more often per step, and is alone when the others have ended.
//
// Steps and bytes per rank and meeting, S bytes of model: one message of S; non-blocking P-1
// control messages in all. Memory, blocking: 1 model beside the weights; non-blocking: 4.

#include "algorithms/asynchronous/model_averager.h"
#include "algorithms/asynchronous/partial_collective.h"
#include "algorithms/entries.h"
#include "algorithms/execution/parts.h"
#include "algorithms/peers/random_meetings.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

enum class Mode { blocking, non_blocking };

struct Options {
  Execution execution;
  Mode mode = Mode::non_blocking;
  std::int64_t local_steps = 4;
  Interval interval = Interval::fixed;
};

using Plan = std::shared_ptr<const RandomMeetings>;

void meet_between_steps(Context ctx, Run& run, const Plan& meetings) {
  auto comm = ctx.stream->fork("comm");
  long next = 0;
  for (long t : run.steps) {
    const bool due = meetings->due_after(t, next);
    const auto average = [meetings, next](Context c, const Tensor& x, Slot) {
      d_fp_s(c, x, meetings->peers(c.rank(), c.size(), next));
    };
    local_step(ctx, run, *comm, average, due);
    if (due) ++next;
  }
}

void meet_beside_steps(Context ctx, Run& run, const Plan& meetings) {
  const auto averager = std::make_shared<ModelAverager>(ctx, run, std::vector<int>{}, std::nullopt);
  PartialCollective agent(ctx, "averager",
                          {.versions = meetings->count(),
                           .initiator = [](long) { return Activation::kAnyRank; },
                           .execute =
                               [averager, meetings](Context c, long meeting) {
                                 const Peers partner = meetings->peers(c.rank(), c.size(), meeting);
                                 for (const int rank : partner.send_to) averager->average(c, rank);
                               }});
  long next = 0;
  for (long t : run.steps) {
    averager->model.step(ctx, run);
    if (!meetings->due_after(t, next)) continue;
    if (next > 0) agent.wait(ctx, next - 1);
    agent.announce(ctx, next++);
  }
  if (next > 0) agent.wait(ctx, next - 1);
  averager->model.read(ctx);
}

void train(Context ctx, Run& run, const Options& options) {
  const Plan meetings = std::make_shared<const RandomMeetings>(
      run.seed, options.interval, options.local_steps, run.steps.count());
  if (options.mode == Mode::blocking) meet_between_steps(ctx, run, meetings);
  else meet_beside_steps(ctx, run, meetings);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  ExchangeSchedule schedule{.cycle = std::nullopt, .every = options.local_steps};
  if (options.interval == Interval::fixed)
    schedule.cycle = Cycle{.steps = options.local_steps, .exact = false};
  return schedule;
}

}  // namespace

AlgorithmEntry swarm_sgd_entry() {
  return algorithm_entry(
      {.name = "swarm_sgd",
       .doc = "Workers step alone and average their models in random pairs",
       .trigram = kAsyncFullDecentralised,
       .execution_options = "",
       .source = "Nadiradze et al., SwarmSGD, arXiv 1910.12308"},
      train,
      FieldTable<Options>{}
          .field("mode", &Options::mode,
                 one_of<Mode>({{"blocking", Mode::blocking}, {"non_blocking", Mode::non_blocking}}),
                 "Whether workers wait for their partner, or go on while models are averaged")
          .field("local_steps", &Options::local_steps, integer(1, 1 << 30),
                 "H: steps from meeting to meeting, or their mean")
          .field("interval", &Options::interval,
                 one_of<Interval>({{"fixed", Interval::fixed}, {"geometric", Interval::geometric}}),
                 "Whether there are always H steps between meetings, or a geometric number"),
      {.schedule = schedule});
}

}  // namespace trigram
