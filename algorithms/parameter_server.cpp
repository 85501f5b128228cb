// Synchronous sharded parameter server (Li et al., OSDI 2014; partitions as in BytePS, Jiang et
// al., OSDI 2020). Partitions are assigned to servers in turn, or by a hash as in BytePS's code.
//
//   push: worker j sends its gradient g_j[p] of every partition p to p's server, such as p mod k
//   server: g[p] = 1/P sum_j g_j[p], in the order of ranks
//   pull: every worker asks for g[p] (if acknowledged), and receives it;  x = x - lr U(g)
//
// Servers return the mean gradient, so optimizers stay where the weights are. Servers are among the
// workers, or are additional ranks beside them. P is the number of workers; in hierarchical
// execution it is the number of nodes, whose leaders push the means of their nodes. A round
// contains one partition per server or, with the hash, about the same number of bytes.
//
// Exchanges and bytes, for R rounds, S bytes in all and S_k bytes on a server: R+1 exchanges. If
// pushes are acknowledged: R+3 exchanges, or R by stages (push_pull.h), and 232 bytes more for each
// partition and worker. A worker sends S bytes. A server that is also a worker sends only S - S_k
// bytes as a worker, and S_k bytes to each other worker; a server that is no worker sends S_k bytes
// to each worker.
//
// With priority `need` (ByteScheduler, Peng et al., SOSP 2019), the next forward pass waits for
// each bucket only when it reaches the bucket's layers. The first partitions, a share of `early`,
// travel in the order in which backward completes them, and the other partitions in the order in
// which the forward pass needs them. Both orders are the same on all ranks. An evaluation sees the
// weights before the update, except after the last step.

#include "algorithms/entries.h"
#include "algorithms/execution/exchange.h"
#include "algorithms/servers/push_pull_queue.h"

namespace trigram::algorithm::parameter_server {
namespace {

struct Options {
  Execution execution;
  std::int64_t servers = 0;
  Placement placement = Placement::among;
  std::size_t partition_bytes = 4'096'000;
  bool by_need = false;
  double early = 0.5;
  bool through_host = false;
  Assignment assignment = Assignment::round_robin;
  bool acknowledged = true;
};

/// The layout of all ranks or, in hierarchical execution, that of the node leaders.
Layout layout_of(const Options& options, const Layout& layout) {
  if (!options.execution.hierarchical) return layout;
  return Layout(static_cast<int>(layout.nodes().size()), 1);
}
Servers servers(const Options& options, const Layout& layout) {
  return make_servers(options.servers, layout_of(options, layout).ranks(), options.placement);
}
Workers workers(const Options& options, const Layout& layout) {
  return make_servers(options.servers, layout.ranks(), options.placement).workers();
}

void train(Context ctx, Run& run, const Options& options) {
  const auto host = options.through_host ? ctx.stream->fork("host") : nullptr;
  auto comm = ctx.stream->fork("comm");
  const bool is_worker = workers(options, *ctx.layout).include(ctx.rank());
  const bool by_need = options.by_need;
  PushPullQueue queue(ctx, *comm, run, servers(options, *ctx.layout),
                      {options.partition_bytes, by_need ? options.early : 1, run.execution,
                       host.get(), options.assignment, options.acknowledged});
  for (long t : run.steps) {
    if (!is_worker) {
      queue.serve(ctx);
      continue;
    }
    if (by_need) run.workload.forward_by_bucket(ctx, [&](Bucket& b) { queue.update(ctx, b); });
    else run.workload.forward(ctx);
    queue.begin();
    run.workload.backward(ctx, [&](Bucket& b) {
      if (run.execution.overlap) queue.issue(ctx, b.index);
    });
    queue.issue_all(ctx);
    if (!by_need || t + 1 == run.steps.count()) queue.update_all(ctx);
  }
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  if (options.execution.hierarchical && options.placement == Placement::beside)
    throw ConfigError(pointer + "/hierarchical",
                      "the node leaders are the servers; expected \"placement\": \"among\"");
  check_servers(options.servers, layout_of(options, layout), pointer, options.placement);
}

}  // namespace

AlgorithmEntry parameter_server_entry() {
  return algorithm_entry(
      {.name = "parameter_server",
       .doc = "Synchronous SGD on the mean gradient, computed by sharded servers",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Li et al., OSDI 2014; Jiang et al., BytePS, OSDI 2020",
       .synchronizes = false,
       .averages_gradients = true},
      train,
      FieldTable<Options>{}
          .field("servers", &Options::servers, servers_kind(),
                 "Number of ranks that each serve a share of the model; \"all\": every rank")
          .field("placement", &Options::placement, placement_kind(),
                 "among: servers are also workers; beside: servers are ranks that only serve")
          .field("partition", &Options::partition_bytes, partition_kind(),
                 "Largest piece of a bucket that a server handles at once")
          .field("priority", &Options::by_need, one_of<bool>({{"ready", false}, {"need", true}}),
                 "Partition that is sent first: the first that is ready, or the first that the "
                 "next forward pass needs")
          .field("early", &Options::early, number(0, 1),
                 "Share of the partitions, those that are ready first, that are sent in the order "
                 "in which they are ready")
          .only_where([](const Options& options) { return options.by_need; },
                      "has no effect here; expected \"priority\": \"need\" beside it")
          .field("through_host", &Options::through_host, boolean(),
                 "Exchange through the host, at host_bandwidth in simulated time, as in BytePS")
          .field("assignment", &Options::assignment, assignment_kind(),
                 "How partitions are assigned to servers: in turn, or by a hash of the key as in "
                 "BytePS")
          .field("acknowledged", &Options::acknowledged, boolean(),
                 "Workers ask for a mean once their push is acknowledged, as in BytePS"),
      {.check = check, .workers = workers});
}

}  // namespace trigram::algorithm::parameter_server
