// Synchronous sharded parameter server (Li et al., OSDI 2014; partitions and their round-robin
// assignment as in BytePS, Jiang et al., OSDI 2020).
//
//   push: worker j sends its gradient g_j[p] of every partition p to server p mod k
//   server: g[p] = 1/P sum_j g_j[p], in the order of ranks
//   pull: every worker receives g[p];  x = x - lr U(g)
//
// What comes back is the mean gradient, not weights: optimisers with their states stay where the
// weights are. k partitions, one per server, make a round; round r is pushed while round r-1 comes
// back, so that servers use both directions of their links. Servers are among the workers, spread
// evenly over them. Steps and bytes per rank and iteration, S bytes of gradient in R rounds: R+1
// steps; a worker sends S; a server, of S_k bytes of partitions, S - S_k + (P-1) S_k.

#include <memory>
#include <vector>

#include "algorithms/entries.h"
#include "algorithms/primitives/push_pull.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  std::int64_t servers = 0;
  std::size_t partition_bytes = 4'096'000;
};

class ParameterServer final : public Algorithm {
 public:
  explicit ParameterServer(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    auto comm = ctx.stream->fork("comm");
    const Servers servers = servers_among(options_.servers, ctx.size());
    const auto rounds = std::make_shared<const PushPull>(ctx, run.workload.buckets(), servers,
                                                         options_.partition_bytes);
    for ([[maybe_unused]] long t : run.steps) step(ctx, run, *comm, rounds);
  }

 private:
  void step(Context ctx, Run& run, Stream& comm, std::shared_ptr<const PushPull> rounds) {
    std::vector<std::shared_ptr<Work>> issued;
    const auto issue = [&](Bucket& ready) {
      for (std::size_t r = issued.size();
           r < rounds->exchanges() && rounds->needs(r) <= ready.index; ++r)
        issued.push_back(comm.submit(ctx, [rounds, r](Context c) { rounds->exchange(c, r); }));
    };
    run.workload.forward(ctx);
    run.workload.backward(ctx, [&](Bucket& b) {
      if (run.execution.overlap) issue(b);
    });
    issue(run.workload.buckets().back());
    for (Bucket& bucket : run.workload.buckets()) {
      ctx.stream->wait(*issued[rounds->completes(bucket.index)]);
      run.optimizer.step(ctx, bucket);
    }
  }

  Options options_;
};

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  check_servers(options.servers, layout, pointer);
}

}  // namespace

AlgorithmEntry parameter_server_entry() {
  return algorithm_entry<ParameterServer>(
      {.name = "parameter_server",
       .doc = "Synchronous SGD on the mean gradient, which sharded servers form",
       .trigram = kSyncFullCentralised,
       .execution_options = "OF",
       .source = "Li et al., OSDI 2014; Jiang et al., BytePS, OSDI 2020"},
      FieldTable<Options>{}
          .field("servers", &Options::servers, servers_kind(),
                 "How many of the workers serve a share of the model each; all: every one")
          .field("partition", &Options::partition_bytes, partition_kind(),
                 "Largest piece of a bucket that a server handles at once"),
      check);
}

}  // namespace trigram
