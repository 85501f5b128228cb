#include "algorithms/asynchronous/group_models.h"

#include "algorithms/primitives/primitives.h"

namespace trigram {

ModelSums::ModelSums(Context ctx, const Tensor& weights, std::uint64_t seed,
                     std::optional<CodecSpec> codec, const AllreduceSpec& algorithm,
                     const TrainingState& state)
    : codec_(std::move(codec)), algorithm_(algorithm), seed_(seed) {
  if (!codec_) return;
  reference_ = state.copy_of(ctx, "reference", weights);
  lost_ = ctx.device->empty_like(reference_);
}

void ModelSums::add_up(Context ctx, const Tensor& x, Slot slot) {
  if (!codec_) return allreduce(ctx, x, Reduce::sum, algorithm_);
  if (ctx.size() == 1) return;
  ctx.device->axpby(-1, reference_, 1, x);
  ctx.device->fill(lost_, 0);
  c_lp_gather(ctx, x, *ctx.device->codec(*codec_, codec_key(ctx, seed_, slot)), &lost_);
  const auto S = static_cast<float>(ctx.size());
  ctx.device->axpby(S, reference_, S, x);
  ctx.device->axpby(S, lost_, 1, x);
}

void ModelSums::set_reference(Context ctx, const Tensor& model) {
  if (codec_) ctx.device->copy(reference_, model);
}

}  // namespace trigram
