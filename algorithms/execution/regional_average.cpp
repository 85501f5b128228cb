#include "algorithms/execution/regional_average.h"

#include <algorithm>
#include <map>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "algorithms/primitives/balanced_regions.h"
#include "core/codecs/density.h"
#include "core/codecs/sparse.h"

namespace trigram {
namespace {

std::unique_ptr<Codec> largest(Device& device, double density) {
  return device.codec({"topk", {{"density", density}}});
}

/// Codes of so many elements of a region, whatever its length. One that has fewer is sent as it is,
/// but priced as if it had them: its length depends on values.
class RegionCodes {
 public:
  RegionCodes(Device& device, const BalancedRegions& regions, std::size_t most,
              std::size_t priced_most)
      : device_(device), regions_(regions), most_(most), priced_most_(priced_most) {}

  Codec& of(std::size_t region) {
    const std::size_t n = regions_.length(region);
    auto& codec = by_length_[n];
    if (!codec) {
      const bool all = n <= most_;
      codec = largest(device_, all ? 1 : static_cast<double>(most_) / static_cast<double>(n));
    }
    return *codec;
  }
  Tensor empty_wire(std::size_t region) {
    return device_.empty(of(region).wire_bytes(regions_.length(region)), DType::u8,
                         priced_most_ * topk::kElementBytes);
  }

 private:
  Device& device_;
  const BalancedRegions& regions_;
  std::size_t most_, priced_most_;
  std::map<std::size_t, std::unique_ptr<Codec>> by_length_;  // P of them make few different ones
};

/// What is kept of a tensor from step to step.
struct Kept {
  Kept(Context ctx, const Tensor& x) : residual(ctx.device->empty_like(x)), regions(ctx, x) {
    ctx.device->fill(residual, 0);
  }
  Tensor residual;
  BalancedRegions regions;
};

/// The state of a run, by bucket. Used on one stream.
class RegionalAverage {
 public:
  explicit RegionalAverage(const Regional& options) : options_(options) {}

  void operator()(Context c, const Tensor& x, Slot slot) {
    const auto P = static_cast<std::size_t>(c.size()), self = static_cast<std::size_t>(c.rank());
    if (P == 1) return;
    Device& device = *c.device;
    auto& [residual, regions] = kept_.try_emplace(slot.bucket, c, x).first->second;

    const auto whole = largest(device, options_.density);
    const Tensor wire = whole->empty_wire(device, x), own = device.empty_like(x);
    device.axpby(1, x, 1, residual);  // v
    whole->encode(wire, residual);
    whole->decode(own, wire);
    if (slot.step % options_.rebalance_every == 0)
      regions.balance(c, topk::indices_on(device.download<std::byte>(wire)));

    RegionCodes codes(device, regions, most(x.numel(), P), most(x.priced_numel(), P));
    std::vector<Tensor> sent, arrived, means;
    for (std::size_t j = 0; j < P; ++j) {
      sent.push_back(codes.empty_wire(j));
      arrived.push_back(codes.empty_wire(self));
      means.push_back(codes.empty_wire(j));
      codes.of(j).encode(sent[j], regions.of(own, j));
    }
    pairwise_alltoall(c, sent, arrived);
    codes.of(self).encode_mean(device, means[self], arrived, regions.of(x, self), nullptr);
    ring_allgather(c, means);
    for (std::size_t j = 0; j < P; ++j) {
      codes.of(j).decode(regions.of(x, j), means[j]);
      codes.of(j).decode(regions.of(own, j), sent[j]);
    }
    whole->encode(wire, x);
    whole->decode(x, wire);
    device.nn().relu_grad(x, own);  // 0 where all have chosen nothing
    device.axpby(-1, own, 1, residual);
  }

 private:
  /// Elements of a region that travel, at most: of n elements, the k of a rank may lie in one.
  std::size_t most(std::size_t n, std::size_t P) const {
    const std::size_t k = kept(options_.density, n);
    return std::min(k, kept(options_.slack / static_cast<double>(P), k));
  }

  Regional options_;
  std::map<int, Kept> kept_;
};

}  // namespace

Exchange regional_average(const Regional& options) {
  return [average = std::make_shared<RegionalAverage>(options)](
             Context c, const Tensor& x, Slot slot) { (*average)(c, x, slot); };
}

}  // namespace trigram
