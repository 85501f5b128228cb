// Synchronous SGD on sixteen-bit gradients (like the fp16 compression of Horovod and PyTorch).
//
//   g = sum_j h(g_j(x) / P), added up in sixteen bits;  x = x - lr U(g)
//
// h rounds to fp16 or bf16. Dividing before adding keeps the sum within the range of fp16. Messages
// per rank and iteration: those of gradient_allreduce, with half the bytes.

#include "algorithms/entries.h"
#include "algorithms/execution/fusion_buffer.h"
#include "algorithms/execution/steps.h"
#include "algorithms/options.h"

namespace trigram::algorithm::half_precision_allreduce {
namespace {

struct Options {
  Execution execution;
  DType format = DType::f16;
  AllreduceSpec allreduce;
  std::optional<FusionCycle> fusion_buffer;
};

void train(Context ctx, Run& run, const Options& options) {
  const auto average = [options](Context c, const Tensor& grad, Slot) {
    const Tensor half = c.device->empty(grad.numel(), options.format, grad.priced_numel());
    c.device->axpby(1.0f / static_cast<float>(c.size()), grad, 0, grad);
    c.device->copy(half, grad);
    allreduce(c, half, Reduce::sum, options.allreduce);
    c.device->copy(grad, half);
  };
  if (options.fusion_buffer) {
    FusionBuffer buffer(ctx, run, *options.fusion_buffer, average);
    for ([[maybe_unused]] long t : run.steps) buffer.step(ctx);
    return;
  }
  train_on_gradients(ctx, run, average);
}

}  // namespace

AlgorithmEntry half_precision_allreduce_entry() {
  return algorithm_entry(
      {.name = "half_precision_allreduce",
       .doc = "Synchronous SGD on gradients added up in sixteen bits",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Sergeev and Del Balso, Horovod, arXiv 1802.05799"},
      train,
      FieldTable<Options>{}
          .field("format", &Options::format,
                 one_of<DType>({{"fp16", DType::f16}, {"bf16", DType::bf16}}),
                 "Sixteen-bit format of the gradients on the wire and in sums")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the allreduce")
          .field("fusion_buffer", &Options::fusion_buffer, fusion_buffer_kind(),
                 "Fuse ready buckets in cycles; in each cycle the ranks agree on what is ready, as "
                 "in Horovod"));
}

}  // namespace trigram::algorithm::half_precision_allreduce
