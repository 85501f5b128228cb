// OSGP: overlap stochastic gradient push (Assran et al., arXiv 1811.10792). It is SGP whose pushes
// are in flight while the next gradients are computed.
//
//   every rank has x, a weight w, and z = x / w; at first w = 1
//   x = x - lr U(g(z))
//   every tau steps: sends p (x, w) to its out-neighbours;  (x, w) = p (x, w)
//                    (x, w) = (x, w) + the shares that were sent to it tau steps ago
//   z = x / w
//
// with p = 1 / (1 + number of out-neighbours). The sums of x and w over all ranks and all messages
// in flight are conserved, whatever the graph. As part of the weight is always in flight, w < 1
// even on regular graphs, and z moves by lr U(g) / w. After the last step the messages in flight
// are added, too. Push m uses the graph of step m.
//
// The paper's workers add a push in the first step in which it has arrived, and wait for it after
// tau steps. Here, each push is added exactly tau steps late. This is one of the orders of events
// that the paper allows, and it makes the result independent of timing.
//
// Messages and bytes per rank and push, with d peers: d messages of S + 4 bytes (w travels with the
// model), hidden behind tau iterations. If weights are exchanged in buckets (option `bucket`),
// there are d messages of S_b + 4 bytes for each bucket. A delay of a rank does not delay its peers
// if the delay and a push together take no longer than tau iterations. Memory: 3 models beside the
// weights, and d more while received pushes are added up. There is no hierarchical execution: the
// models of a node would have to be averaged immediately, but pushed with a delay.

#include "algorithms/entries.h"
#include "algorithms/execution/parts.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/push_sum.h"

namespace trigram::algorithm::osgp {
namespace {

struct Options {
  Execution execution;
  PeerGraphSpec graph{"one_peer_exponential"};
  std::int64_t overlap_steps = 1;
};

void train(Context ctx, Run& run, const Options& options) {
  Device& device = *ctx.device;
  const std::vector<Part> parts = parts_of(run);
  std::vector<DelayedPush> pushes;
  for (const Part& part : parts)
    pushes.emplace_back(ctx, part.weights, run.state.child(fmt::format("part {}", part.index)));
  const auto graph = make_peer_graph(options.graph, run.seed);
  auto comm = ctx.stream->fork("comm");
  const auto receive_until = [&](long in_flight) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      pushes[i].receive_until(ctx, in_flight);
      pushes[i].state().estimate(device, parts[i].weights);
    }
  };
  for (long t : run.steps) {
    const bool due = t % options.overlap_steps == 0;
    const Peers peers = graph->peers(ctx.rank(), ctx.size(), t / options.overlap_steps);
    // Computes gradients at z, which the workload's weights hold.
    compute_by_part(ctx, run, [&](const Part& part) {
      DelayedPush& push = pushes[static_cast<std::size_t>(part.index)];
      device.copy(part.weights, push.state().x);  // the optimizer steps from x
      optimizer_step(ctx, run, part);
      device.copy(push.state().x, part.weights);
      if (due) push.push(ctx, *comm, peers);
    });
    receive_until(/*in_flight=*/1);
  }
  receive_until(/*in_flight=*/0);
}

ExchangeSchedule schedule(const Options& options, const Layout& layout) {
  ExchangeSchedule schedule = schedule_of_graph(options, layout);
  schedule.interval_steps = options.overlap_steps;
  if (schedule.cycle)
    schedule.cycle = {.first_step = options.overlap_steps,
                      .steps = schedule.cycle->steps * options.overlap_steps};
  return schedule;
}

}  // namespace

AlgorithmEntry osgp_entry() {
  return algorithm_entry(
      {.name = "osgp",
       .doc = "Stochastic gradient push whose pushes are in flight during the next steps",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "F",
       .source = "Assran et al., arXiv 1811.10792",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("graph", &Options::graph, peer_graph_kind(),
                 "Peer graph of the pushes; may be directed")
          .field("overlap_steps", &Options::overlap_steps, integer(1, 64),
                 "tau: steps between pushes; a push is added tau steps later"),
      {.schedule = schedule, .check = check_graph<Options>("osgp")});
}

}  // namespace trigram::algorithm::osgp
