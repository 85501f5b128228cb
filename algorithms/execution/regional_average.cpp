#include "algorithms/execution/regional_average.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "algorithms/collectives/collectives.h"
#include "algorithms/primitives/primitives.h"
#include "core/codecs/options.h"

namespace trigram {

BalancedRegions::BalancedRegions(Context ctx, const Tensor& x, const TrainingState& state)
    : bounds_(state.values<std::size_t>("bounds", static_cast<std::size_t>(ctx.size()) + 1)) {
  if (bounds_.back() == x.numel()) return;  // an earlier part of the run has set them
  const std::size_t P = bounds_.size() - 1;
  for (std::size_t i = 0; i <= P; ++i) bounds_[i] = x.parts(0, i, P).numel();
}

void BalancedRegions::balance(Context ctx, std::span<const std::uint32_t> selected) {
  const std::size_t P = bounds_.size() - 1;
  if (P == 1) return;
  std::vector<float> own;
  for (std::size_t i = 1; i < P; ++i)
    own.push_back(
        static_cast<float>(selected.empty() ? bounds_[i] : selected[selected.size() * i / P]));
  const Tensor bounds = ctx.device->empty(P - 1);
  ctx.device->upload(bounds, own);
  c_fp_s(ctx, bounds, AllreduceAlgorithm::recursive_doubling);  // the same bits on all ranks
  const std::vector<float> mean = ctx.device->download(bounds);
  for (std::size_t i = 0; i < mean.size(); ++i)
    bounds_[i + 1] = std::min(static_cast<std::size_t>(std::lround(mean[i])), bounds_.back());
}

Tensor BalancedRegions::slice(const Tensor& x, std::size_t region) const {
  return x.slice(bounds_[region], length(region),
                 x.part(region, bounds_.size() - 1).priced_numel());
}

namespace {

std::unique_ptr<Codec> largest(Device& device, double density) {
  return device.codec({"topk", {{"density", density}}});
}

/// Codecs that keep at most `capacity` elements of a region, whatever the region's length. A region
/// with fewer elements is sent as it is, but priced as if it had `capacity` elements, because the
/// region's length depends on values and a price must not.
class RegionCodes {
 public:
  RegionCodes(Device& device, const BalancedRegions& regions, std::size_t capacity,
              std::size_t priced_capacity)
      : device_(device),
        regions_(regions),
        capacity_(capacity),
        priced_capacity_(priced_capacity) {}

  Codec& codec(std::size_t region) {
    const std::size_t n = regions_.length(region);
    auto& codec = by_length_[n];
    if (!codec) {
      const bool fits = n <= capacity_;
      codec = largest(device_, fits ? 1 : static_cast<double>(capacity_) / static_cast<double>(n));
    }
    return *codec;
  }
  /// A buffer for the code of a region.
  Tensor empty_wire(std::size_t region) {
    return device_.empty(bytes(region), DType::u8, priced_bytes());
  }
  /// A buffer for the codes of all regions, side by side.
  Tensor empty_wires() {
    std::size_t sum = 0;
    for (std::size_t j = 0; j < regions_.size(); ++j) sum += bytes(j);
    return device_.empty(sum, DType::u8, regions_.size() * priced_bytes());
  }
  /// The part of `wires` for each region.
  std::vector<Tensor> split(const Tensor& wires) {
    std::vector<Tensor> parts;
    for (std::size_t j = 0, begin = 0; j < regions_.size(); begin += bytes(j++))
      parts.push_back(wires.slice(begin, bytes(j), priced_bytes()));
    return parts;
  }
  /// The number of nonzero elements in the codes on `wires`; 0 for a phantom.
  std::size_t count_nonzero(const Tensor& wires) {
    const auto codes = device_.download<std::byte>(wires);
    if (codes.empty()) return 0;
    std::size_t count = 0;
    for (std::size_t j = 0, begin = 0; j < regions_.size(); begin += bytes(j++))
      for (const float value : topk::wire_values({codes.data() + begin, bytes(j)}))
        if (value != 0) ++count;
    return count;
  }

 private:
  std::size_t bytes(std::size_t region) {
    return codec(region).wire_bytes(regions_.length(region));
  }
  std::size_t priced_bytes() const { return priced_capacity_ * topk::kElementBytes; }

  Device& device_;
  const BalancedRegions& regions_;
  std::size_t capacity_, priced_capacity_;
  std::map<std::size_t, std::unique_ptr<Codec>> by_length_;  // regions have few different lengths
};

float smallest(const std::vector<float>& values) {
  float least = values.empty() ? 0 : std::fabs(values[0]);
  for (const float value : values) least = std::min(least, std::fabs(value));
  return least;
}

/// The state of a tensor between steps.
struct BucketState {
  BucketState(Context ctx, const Tensor& x, const TrainingState& kept)
      : state(kept), residual(kept.zeros_like(ctx, "residual", x)), regions(ctx, x, kept) {}
  TrainingState state;  // owns what the others refer to
  Tensor residual;
  BalancedRegions regions;
  // For the elements of v, and for the elements of the mean.
  Threshold own{{.upper_limit = 5.0 / 4, .factor = 1.012}, state.value<float>("own")};
  Threshold common{{.upper_limit = 4.0 / 3, .factor = 1.008}, state.value<float>("common")};
};

/// The state of a run, by bucket. Only one stream may use it.
class RegionalAverage {
 public:
  RegionalAverage(const Regional& options, TrainingState state)
      : options_(options), state_(std::move(state)) {}

  void operator()(Context c, const Tensor& x, Slot slot) {
    if (c.size() == 1) return;
    Device& device = *c.device;
    auto found = states_.find(slot.bucket);
    if (found == states_.end())
      found =
          states_
              .try_emplace(slot.bucket, c, x, state_.child(fmt::format("regions {}", slot.bucket)))
              .first;
    BucketState& bucket = found->second;
    const bool exact = slot.step % options_.threshold_every == 0;
    const bool rebalance = slot.step % options_.rebalance_every == 0;
    const auto whole = largest(device, options_.density);
    const Tensor wire = whole->empty_wire(device, x);
    device.axpby(1, x, 1, bucket.residual);  // the residual is now v = x + e
    if (exact || rebalance) {
      whole->encode(wire, bucket.residual);
      const auto code = device.download<std::byte>(wire);
      if (exact) bucket.own.set(smallest(topk::wire_values(code)));
      if (rebalance) bucket.regions.balance(c, topk::wire_indices(code));
    }
    const Tensor own = device.copy_of(bucket.residual);
    device.cut_below(bucket.own.magnitude(), own);  // own is now s_i
    exchange(c, x, own, bucket, exact, *whole, wire);
    device.nn().relu_grad(x, own);  // own = 0 where the result has no element
    device.axpby(-1, own, 1, bucket.residual);
  }

 private:
  /// Sends each region of `own`, the elements that this rank has selected, to the region's owner
  /// and sets x to the means that all owners send back. On return `own` holds the elements that
  /// were sent. Updates the thresholds.
  void exchange(Context c, const Tensor& x, const Tensor& own, BucketState& bucket, bool exact,
                Codec& whole, const Tensor& wire) const {
    Device& device = *c.device;
    const auto P = static_cast<std::size_t>(c.size()), self = static_cast<std::size_t>(c.rank());
    const BalancedRegions& regions = bucket.regions;
    RegionCodes codes(device, regions, capacity(x.numel(), P), capacity(x.priced_numel(), P));
    const Tensor all_sent = codes.empty_wires(), all_means = codes.empty_wires();
    std::vector<Tensor> sent = codes.split(all_sent), means = codes.split(all_means), arrived;
    for (std::size_t j = 0; j < P; ++j) {
      arrived.push_back(codes.empty_wire(self));
      codes.codec(j).encode(sent[j], regions.slice(own, j));
    }
    direct_alltoall(c, sent, arrived);
    const Tensor mean = regions.slice(x, self);
    codes.codec(self).decode_mean(device, mean, arrived);
    if (!exact) device.cut_below(bucket.common.magnitude(), mean);
    codes.codec(self).encode(means[self], mean);
    ring_allgather(c, means);
    for (std::size_t j = 0; j < P; ++j) {
      codes.codec(j).decode(regions.slice(x, j), means[j]);
      codes.codec(j).decode(regions.slice(own, j), sent[j]);
    }
    if (exact) {
      whole.encode(wire, x);
      bucket.common.set(smallest(topk::wire_values(device.download<std::byte>(wire))));
      device.cut_below(bucket.common.magnitude(), x);
    } else {
      const std::size_t k = kept_count(options_.density, x.numel());
      bucket.own.correct(codes.count_nonzero(all_sent), k);
      bucket.common.correct(codes.count_nonzero(all_means), k);
    }
  }
  /// The largest number of elements of one region in a message, for a vector of n elements:
  /// ceil(slack k/P), but no more than k.
  std::size_t capacity(std::size_t n, std::size_t P) const {
    const std::size_t k = kept_count(options_.density, n);
    return std::min(k, kept_count(options_.slack / static_cast<double>(P), k));
  }

  Regional options_;
  TrainingState state_;
  std::map<int, BucketState> states_;
};

}  // namespace

Exchange regional_average(const Regional& options, const TrainingState& state) {
  return [average = std::make_shared<RegionalAverage>(options, state)](
             Context c, const Tensor& x, Slot slot) { (*average)(c, x, slot); };
}

}  // namespace trigram
