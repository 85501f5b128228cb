// Federated averaging: in each round some of the workers train, and their models are averaged
// (McMahan et al., arXiv 1602.05629).
//
//   round r: m = max(C P, 1), rounded, workers are drawn, each starts from the global model x and
//   makes H steps
//            x_i = x_i - lr U(g_i(x_i));  then x = sum over the drawn i of n_i x_i / sum of n_i
//
// n_i is the number of samples that worker i has processed in the round. All workers have
// mini-batches of the same size and make H steps, so here the mean is an ordinary one. With C = 1
// this is local SGD. The state of a worker's optimizer stays with the worker.
//
// The paper has a server. Here every rank draws the same workers from the seed, the drawn workers
// average by an allreduce, and hand the model on themselves: a worker that is drawn for the next
// round, but was not drawn for this one, gets the model from one of this round's workers. A worker
// that is not drawn does not compute. Its steps have no mini-batch and take no time, except that
// the last one ends when a message says that the round has ended. The last step of a run ends a
// round, and then all workers get the model. Without a server, m S bytes per round through one
// machine become 2(m-1)/m S through each.
//
// Messages and bytes per drawn rank and round, for a model of S bytes and a ring: 2(m-1) messages
// (per bucket), 2(m-1)/m S bytes; in addition one message of S bytes to each worker that is drawn
// next, and one control message to each other worker, divided among the drawn ranks.

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/control_tag.h"
#include "algorithms/execution/parts.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/peers/random_workers.h"
#include "core/subset.h"

namespace trigram::algorithm::fedavg {
namespace {

struct Options {
  Execution execution;
  double fraction = 0.5;
  std::int64_t sync_every = 8;
  AllreduceSpec allreduce;
  bool idles() const { return fraction < 1; }
};

int drawn_count(double fraction, int ranks) {
  return std::max(static_cast<int>(std::lround(fraction * ranks)), 1);
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

/// The end of a round, for one rank: brings the model of the round's workers `from` to the workers
/// `to` of the next round, and tells the other ranks that the round has ended.
void hand_over(Context ctx, Run& run, Stream& comm, const std::vector<int>& from,
               const std::vector<int>& to) {
  std::vector<Transfer::Kind> kinds;
  std::vector<int> peers;
  std::size_t next = 0;  // ranks outside of `from` are served in turns
  for (int rank = 0; rank < ctx.world_size; ++rank) {
    if (contains(from, rank)) continue;
    const int source = from[next++ % from.size()];
    const bool sends = source == ctx.world_rank, receives = rank == ctx.world_rank;
    if (!sends && !receives) continue;
    if (contains(to, rank)) {
      kinds.push_back(sends ? Transfer::send : Transfer::recv);
      peers.push_back(sends ? rank : source);
    } else if (sends) {
      ctx.control->post(rank, kRoundTag, 0);
    } else {
      ctx.control->receive(kRoundTag);
    }
  }
  if (peers.empty()) return;
  const auto transfer = [kinds, peers](Context c, const Tensor& x, Slot) {
    std::vector<Transfer> batch;
    for (std::size_t i = 0; i < peers.size(); ++i)
      batch.push_back({kinds[i], x, peers[i], TrafficClass::point_to_point});
    c.comm->transfer(batch);
  };
  exchange_on(comm, ctx, run, run.workload.weights(), transfer);
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const int P = ctx.world_size, m = drawn_count(options.fraction, P);
  for (long t : run.steps) {
    const long round = t / options.sync_every;
    const bool last = run.steps.last_of_run(t), ends = last || (t + 1) % options.sync_every == 0;
    const std::vector<int> drawn = random_workers(run.seed, round, m, P);
    const auto average = [drawn, mean = full_average(options.allreduce)](Context c, const Tensor& x,
                                                                         Slot slot) {
      Subset workers(*c.comm, drawn);
      mean(c.with(workers), x, slot);
    };
    if (contains(drawn, ctx.world_rank)) local_step(ctx, run, *comm, average, ends);
    else run.steps.record_batches(0);
    if (ends)
      hand_over(ctx, run, *comm, drawn, random_workers(run.seed, round + 1, last ? P : m, P));
  }
}

/// The draws of workers do not repeat, unless all workers are drawn.
ExchangeSchedule schedule(const Options& options, const Layout& layout) {
  ExchangeSchedule schedule{.cycle = Cycle{.steps = options.sync_every},
                            .interval_steps = options.sync_every};
  if (drawn_count(options.fraction, layout.ranks()) < layout.ranks()) schedule.cycle.reset();
  return schedule;
}

}  // namespace

AlgorithmEntry fedavg_entry() {
  return algorithm_entry(
      {.name = "fedavg",
       .doc = "In each round some workers, drawn at random, train alone, and their models are "
              "averaged",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "F",
       .source = "McMahan et al., Federated Averaging, arXiv 1602.05629",
       .exchanges_weights = true,
       .own_models = true},
      train,
      FieldTable<Options>{}
          .field("fraction", &Options::fraction, number(0, 1),
                 "C: fraction of the workers that are drawn for each round; at least one is")
          .field("sync_every", &Options::sync_every, integer(1),
                 "H: steps of the drawn workers before the average")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce"),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::fedavg
