// Decentralised parallel SGD at full precision (D-PSGD, arXiv 1705.09056; BAGUA, arXiv 2107.01499).
//
//   x_i = sum_j W_ij x_j - lr U(g_i(x_i))
//
// The gradient is taken at the old local weights, so the exchange of weights overlaps with the
// whole iteration.
//
// There are three modes: `all` averages over all ranks (an allreduce of weights), `shift_one`
// averages with one partner per exchange, and `ring` averages with two neighbours. The model, of S
// bytes, travels as a whole. Bytes and messages per rank and exchange: all, 2(P-1)/P S bytes in
// 2(P-1) messages; shift_one, S bytes in 1 message; ring, 2 S bytes in 2 messages. Execution is
// hierarchical by default, as in BAGUA: the leaders exchange the means of their nodes. If weights
// are exchanged in buckets (option `bucket`), each bucket takes that number of messages, one bucket
// after another. With a communication_interval of k, the steps 0, k, 2k, ... exchange, and the
// other steps are plain local steps.
//
// The order of operations is that of BAGUA's code (bagua/torch_api/algorithms/decentralized.py;
// rust/bagua-core, comm_ops/decentralized_full_precision_synchronous.rs). The exchanges of all
// buckets are issued when the forward pass begins; they run one after another. The mean over the
// node and the exchange between leaders, on a copy of the weights, overlap with computation. After
// backward the host waits for all of them. Then, bucket by bucket, leaders copy the result to the
// weights and broadcast it inside their nodes; nothing hides this part. (dpsgd does not have it.)

#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/peers/registry.h"
#include "algorithms/primitives/primitives.h"

namespace trigram::algorithm::decentralized {
namespace {

enum class Mode { all, shift_one, ring };

struct Options {
  Execution execution{.hierarchical = true};
  Mode mode = Mode::all;
  std::int64_t communication_interval = 1;
  AllreduceSpec allreduce;
};

PeerGraphSpec graph_of(Mode mode) { return {mode == Mode::shift_one ? "shift_one" : "ring"}; }

void train(Context ctx, Run& run, const Options& options) {
  const Tensor copy = ctx.device->empty_like(run.workload.weights());
  auto comm = ctx.stream->fork("comm");
  const std::shared_ptr<const PeerGraph> graph = make_peer_graph(graph_of(options.mode));
  const long interval = options.communication_interval;
  const Exchange mix = [options, graph, interval](Context c, const Tensor& x, Slot slot) {
    if (options.mode == Mode::all) c_fp_s(c, x, options.allreduce);
    else d_fp_s(c, x, graph->peers(c.rank(), c.size(), slot.step / interval));
  };
  for (long t : run.steps) {
    if (t % interval == 0) gossip_step(ctx, run, *comm, copy, mix);
    else local_step(ctx, run);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout& layout) {
  Cycle cycle;  // in exchanges; scaled to steps below
  if (options.mode != Mode::all)
    cycle =
        cycle_of(*make_peer_graph(graph_of(options.mode)), participants(options.execution, layout))
            .value();
  cycle.steps *= options.communication_interval;
  return {.cycle = cycle, .interval_steps = options.communication_interval};
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  if (options.mode == Mode::all) return;
  require_graph(graph_of(options.mode), {}, "decentralized",
                participants(options.execution, layout), pointer + "/mode");
}

}  // namespace

AlgorithmEntry decentralized_entry() {
  return algorithm_entry(
      {.name = "decentralized",
       .doc = "Workers average weights with peers while they compute gradients",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "OFH",
       .source = "Lian et al., D-PSGD, arXiv 1705.09056; BAGUA, arXiv 2107.01499",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("mode", &Options::mode,
                 one_of<Mode>(
                     {{"all", Mode::all}, {"shift_one", Mode::shift_one}, {"ring", Mode::ring}}),
                 "Peers that a worker averages with: all workers, one partner that changes at "
                 "every exchange, or two neighbours")
          .field("communication_interval", &Options::communication_interval, integer(1),
                 "k: exchange in steps 0, k, 2k, ...; the other steps are local. The partner of "
                 "mode shift_one changes at every exchange")
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Algorithm of the allreduce in mode all")
          .only_where([](const Options& options) { return options.mode == Mode::all; },
                      "applies only to \"mode\": \"all\"; remove it"),
      {.schedule = schedule, .check = check});
}

}  // namespace trigram::algorithm::decentralized
