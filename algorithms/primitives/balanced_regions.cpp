#include "algorithms/primitives/balanced_regions.h"

#include <algorithm>
#include <cmath>

#include "algorithms/primitives/primitives.h"

namespace trigram {

BalancedRegions::BalancedRegions(Context ctx, const Tensor& x) {
  const auto P = static_cast<std::size_t>(ctx.size());
  for (std::size_t i = 0; i < P; ++i) cuts_.push_back(x.parts(0, i, P).numel());
  cuts_.push_back(x.numel());
}

void BalancedRegions::balance(Context ctx, std::span<const std::uint32_t> chosen) {
  const std::size_t P = cuts_.size() - 1;
  if (P == 1) return;
  std::vector<float> own;
  for (std::size_t i = 1; i < P; ++i)
    own.push_back(static_cast<float>(chosen.empty() ? cuts_[i] : chosen[chosen.size() * i / P]));
  const Tensor cuts = ctx.device->empty(P - 1);
  ctx.device->upload(cuts, own);
  c_fp_s(ctx, cuts, AllreduceAlgorithm::recursive_doubling);  // the same bits on all ranks
  const std::vector<float> mean = ctx.device->download(cuts);
  for (std::size_t i = 0; i < mean.size(); ++i)
    cuts_[i + 1] = std::min(static_cast<std::size_t>(std::lround(mean[i])), cuts_.back());
}

Tensor BalancedRegions::of(const Tensor& x, std::size_t region) const {
  return x.slice(cuts_[region], length(region), x.part(region, cuts_.size() - 1).priced_numel());
}

}  // namespace trigram
