// SparseLoCo: DiLoCo whose outer gradients are sparse codes with error feedback, which takes the
// place of outer momentum (Sarfi et al., arXiv 2508.15706).
//
//   every H steps, from the outer parameters y, which are the same on all workers, to x_i:
//     a_i = beta e_i + y - x_i;  c_i = Q(a_i);  e_i = a_i - c_i
//     y = y - lr_out 1/P sum_j c_j;  x_i = y
//
// Q is the codec; by default it keeps 64 of every 4096 elements, with 2 bits for a value and 12 for
// its index. The state of the inner optimizer stays local.
//
// Messages and bytes per rank and H steps, for a code of C bytes: P-1 messages, (P-1) C bytes. If
// weights are exchanged in buckets (option `bucket`), P-1 messages per bucket. Memory: two more
// models.
//
// Through a store (option `through`), which is the last rank and no worker, a worker sends one
// message of C bytes per H steps or bucket and receives P-1 of them, for P workers: each uploads
// its code once, however many workers there are. The downloads of a bucket begin when all its codes
// are uploaded. The store keeps no models, but the P codes of an exchange.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"
#include "algorithms/servers/object_store.h"

namespace trigram::algorithm::sparseloco {
namespace {

struct Options {
  Execution execution;
  std::int64_t sync_every = 30;
  double outer_lr = 1, decay = 0.95;
  CodecSpec codec{.name = "chunk_topk"};
  bool through_store = false;
};

Workers workers(const Options& options, const Layout& layout) {
  return workers_beside_store(options.through_store, layout.ranks());
}

/// The mean of codes with error feedback, whose residuals e decay by beta before they are added.
Exchange mean_of_codes(const Run& run, const Options& options) {
  return [options, seed = run.seed, state = run.state](Context c, const Tensor& x, Slot slot) {
    const auto codec = c.device->codec(options.codec, codec_key(c, seed, slot));
    if (is_store(options.through_store, c)) return serve_objects(c, x, *codec);
    const Tensor e = state.zeros_like(c, fmt::format("residual {}", slot.bucket), x);
    c.device->axpby(static_cast<float>(options.decay), e, 0, e);
    if (options.through_store) gather_through_store(c, x, *codec, e);
    else c_lp_gather(c, x, *codec, &e);
  };
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const Exchange mean = across(run.execution, mean_of_codes(run, options));
  const Tensor weights = run.workload.weights();
  const bool is_worker = !is_store(options.through_store, ctx);
  const Tensor outer = is_worker ? run.state.copy_of(ctx, "outer", weights) : Tensor();
  for (long t : run.steps) {
    const bool exchanges = (t + 1) % options.sync_every == 0;
    if (!is_worker) {
      if (exchanges) exchange_on(*comm, ctx, run, weights, mean);
      continue;
    }
    local_step(ctx, run);
    if (!exchanges) continue;
    ctx.device->axpby(1, outer, -1, weights);
    exchange_on(*comm, ctx, run, weights, mean);
    ctx.device->axpby(-static_cast<float>(options.outer_lr), weights, 1, outer);
    ctx.device->copy(weights, outer);
  }
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  check_store(options.through_store, options.execution.hierarchical, layout, pointer);
}

}  // namespace

AlgorithmEntry sparseloco_entry() {
  return algorithm_entry(
      {.name = "sparseloco",
       .doc = "Blocks of local steps, then an outer step along sparse codes with error feedback",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "FH",
       .source = "Sarfi et al., SparseLoCo, arXiv 2508.15706",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between exchanges")
          .field("outer_lr", &Options::outer_lr, number(0, 1e3), "Learning rate of outer steps")
          .field("decay", &Options::decay, number(0, 1),
                 "beta: share of the residuals of error feedback that is kept")
          .field("codec", &Options::codec, contraction_kind(),
                 "Codec of outer gradients on the wire")
          .field("through", &Options::through_store, through_kind(),
                 "How codes travel. peers: around a ring of the workers; store: through the last "
                 "rank, which does not train"),
      {.check = check, .workers = workers});
}

}  // namespace trigram::algorithm::sparseloco
