// Asynchronous decentralised parallel SGD (AD-PSGD, Lian et al., arXiv 1710.06952).
//
//   worker i: x_i = x_i - lr U(g_i(x)), where x is x_i as it was when the gradient was begun
//   agents i, j, atomically: x_i, x_j = (x_i + x_j) / 2
//
// Even ranks are active: after every step their agent asks an odd, passive rank, drawn anew, and
// averages with it while the next gradient is computed. Passive ranks' agents answer one request
// after the other, so nobody waits in a circle, and nobody for anybody's gradient. In the form
// x_i = x_i + (s_j - s_i)/2 for snapshots s, steps made during an average are kept and the sum of
// all models is conserved. Passive agents serve until all active workers have finished. Where an
// average takes longer than a step, active workers run at the pace of averages, passive ones do
// not.
//
// Steps and bytes per rank and average, S bytes of model: one message of S each way.

#include <memory>

#include "algorithms/collectives/exchange.h"
#include "algorithms/entries.h"
#include "algorithms/peers/active_passive.h"
#include "algorithms/primitives/shared_model.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  std::int64_t interval_steps = 1;
};

enum Tag { kRequest, kGrant };
constexpr std::int64_t kAverage = 0, kFinished = 1;  // what a request asks for

/// What the agent of a rank does, and the buffers it does it in.
class Averager {
 public:
  Averager(Context ctx, Run& run)
      : model(ctx, run),
        snapshot_(ctx.device->empty_like(run.workload.weights())),
        arrived_(ctx.device->empty_like(snapshot_)) {}

  /// Active: reserves the partner, then averages with it.
  void ask(Context c, int partner) {
    c.control->post(partner, kRequest, kAverage);
    if (c.control->receive(kGrant)) average(c, partner);
  }
  /// Active: tells all passive ranks that no more requests will come.
  void finish(Context c) {
    for (const int partner : passive_ranks(c.world_size))
      c.control->post(partner, kRequest, kFinished);
  }
  /// Passive: averages with whoever asks, in the order of requests.
  void serve(Context c) {
    for (std::size_t working = active_ranks(c.world_size).size(); working > 0;) {
      const auto request = c.control->receive(kRequest);
      if (!request) return;  // the world is ending
      if (request->a == kFinished) {
        --working;
        continue;
      }
      c.control->post(request->source, kGrant, 0);
      average(c, request->source);
    }
  }

  SharedModel model;

 private:
  void average(Context c, int partner) {
    long taken_at = 0;
    model.snapshot(c, snapshot_, taken_at);
    send_receive(c, snapshot_, partner, arrived_, partner);
    c.device->axpby(-0.5f, snapshot_, 0.5f, arrived_);
    model.add(c, arrived_, taken_at);
  }
  Tensor snapshot_, arrived_;
};

class AdPsgd final : public Algorithm {
 public:
  explicit AdPsgd(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    auto averager = std::make_shared<Averager>(ctx, run);
    auto agent = ctx.stream->fork("averager");
    const bool passive = is_passive(ctx.world_rank);
    std::shared_ptr<Work> work;
    if (passive) work = agent->submit(ctx, [averager](Context c) { averager->serve(c); });
    for (long t : run.steps) {
      averager->model.step(ctx, run);
      if (passive || ctx.world_size == 1 || (t + 1) % options_.interval_steps != 0) continue;
      if (work) ctx.stream->wait(*work);  // the average that was begun a step ago
      const int partner = passive_partner(run.seed, ctx.world_rank, ctx.world_size, t);
      work = agent->submit(ctx, [averager, partner](Context c) { averager->ask(c, partner); });
    }
    if (!passive) work = agent->submit(ctx, [averager](Context c) { averager->finish(c); });
    ctx.stream->wait(*work);
    averager->model.read(ctx);
  }

 private:
  Options options_;
};

}  // namespace

AlgorithmEntry adpsgd_entry() {
  return algorithm_entry<AdPsgd>(
      {.name = "adpsgd",
       .doc = "Workers step alone while agents average their models in pairs",
       .trigram = kAsyncFullDecentralised,
       .execution_options = "",
       .source = "Lian et al., AD-PSGD, arXiv 1710.06952"},
      FieldTable<Options>{}.field("interval_steps", &Options::interval_steps, integer(1),
                                  "An active worker begins an average every so many steps"));
}

}  // namespace trigram
