// Synchronous data-parallel SGD: every worker steps with the mean gradient.
//
//   g = 1/P sum_j g_j(x);  x = x - lr U(g)
//
// Messages and bytes per rank and iteration, for S bytes of gradient in buckets and a ring: 2(P-1)
// messages per bucket, 2(P-1)/P S bytes in all. In hierarchical execution this holds between node
// leaders; each node adds a binomial reduction and a broadcast of S bytes. With a fusion buffer,
// buckets that are ready at the same time travel as one, after an allreduce of control messages in
// each cycle.

#include "algorithms/entries.h"
#include "algorithms/execution/averages.h"
#include "algorithms/execution/fusion_buffer.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::gradient_allreduce {
namespace {

struct Options {
  Execution execution;
  AllreduceSpec allreduce;
  std::optional<FusionCycle> fusion_buffer;
  bool broadcast_buffers = false;
};

void train(Context ctx, Run& run, const Options& options) {
  if (options.fusion_buffer) {
    FusionBuffer buffer(ctx, run, *options.fusion_buffer, full_average(options.allreduce));
    for ([[maybe_unused]] long t : run.steps) buffer.step(ctx);
    return;
  }
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, full_average(options.allreduce));
  for ([[maybe_unused]] long t : run.steps) {
    if (options.broadcast_buffers) broadcast_buffers(ctx, run, *comm);
    gradient_step(ctx, run, *comm, average);
  }
}

}  // namespace

AlgorithmEntry gradient_allreduce_entry() {
  return algorithm_entry(
      {.name = "gradient_allreduce",
       .doc = "Synchronous SGD on the mean gradient",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Sergeev and Del Balso, Horovod, arXiv 1802.05799; BAGUA, arXiv 2107.01499",
       .averages_gradients = true},
      train,
      FieldTable<Options>{}
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce")
          .field("fusion_buffer", &Options::fusion_buffer, fusion_buffer_kind(),
                 "Fuse ready buckets in cycles; in each cycle the ranks agree on what is ready, as "
                 "in Horovod")
          .field("broadcast_buffers", &Options::broadcast_buffers, boolean(),
                 "Broadcast rank 0's buffers of the model before each forward pass, as PyTorch's "
                 "DDP does")
          .only_where([](const Options& options) { return !options.fusion_buffer; },
                      "Horovod does not broadcast buffers; remove this option or fusion_buffer"));
}

}  // namespace trigram::algorithm::gradient_allreduce
