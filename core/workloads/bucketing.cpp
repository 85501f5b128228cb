#include "core/workloads/bucketing.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace trigram {

namespace {

/// Adds tensors to the open bucket and closes it after every tensor for which `full(bucket, index)`
/// is true.
template <class Full>
std::vector<BucketRange> split(std::span<const std::size_t> priced_lengths, std::size_t real_numel,
                               Full full) {
  const std::size_t priced_numel =
      std::accumulate(priced_lengths.begin(), priced_lengths.end(), std::size_t{0});
  // 128 bits wide, so that the product cannot overflow for any profile.
  __extension__ using Wide = unsigned __int128;
  auto real_boundary = [&](std::size_t priced_before) {
    return static_cast<std::size_t>(Wide{real_numel} * priced_before / priced_numel);
  };
  std::vector<BucketRange> ranges;
  BucketRange open;
  std::size_t priced_before = 0;
  for (std::size_t i = 0; i < priced_lengths.size(); ++i) {
    open.priced_count += priced_lengths[i];
    open.last = i + 1;
    if (!full(open, ranges.size()) && i + 1 < priced_lengths.size()) continue;
    priced_before += open.priced_count;
    open.count = real_boundary(priced_before) - open.begin;
    ranges.push_back(open);
    open = {i + 1, 0, open.begin + open.count, 0, 0};
  }
  return ranges;
}

}  // namespace

std::vector<BucketRange> cut_into_buckets(std::span<const std::size_t> priced_lengths,
                                          std::size_t real_numel, const BucketSizes& sizes) {
  return split(priced_lengths, real_numel, [&](const BucketRange& open, std::size_t bucket) {
    return open.priced_count * size_of(DType::f32) >= sizes.min_bytes(bucket);
  });
}

std::size_t count_buckets(std::span<const std::size_t> lengths, const BucketSizes& sizes) {
  return cut_into_buckets(lengths, 0, sizes).size();
}

std::vector<BucketRange> cut_into_groups(std::span<const std::size_t> priced_lengths,
                                         std::size_t real_numel,
                                         std::span<const std::size_t> tensors) {
  TRIGRAM_CHECK(
      std::accumulate(tensors.begin(), tensors.end(), std::size_t{0}) == priced_lengths.size(),
      "buckets of other than all {} tensors", priced_lengths.size());
  return split(priced_lengths, real_numel, [&](const BucketRange& open, std::size_t bucket) {
    return open.last - open.first == tensors[bucket];
  });
}

FlatWorkload::FlatWorkload(Device& device, std::vector<std::size_t> lengths, std::size_t real_numel,
                           std::vector<std::string_view> names, std::vector<std::size_t> rows)
    : lengths_(std::move(lengths)), rows_(std::move(rows)), names_(std::move(names)) {
  TRIGRAM_CHECK(names_.empty() || names_.size() == lengths_.size(), "{} names of {} tensors",
                names_.size(), lengths_.size());
  TRIGRAM_CHECK(rows_.empty() || rows_.size() == lengths_.size(), "{} shapes of {} tensors",
                rows_.size(), lengths_.size());
  const std::size_t priced = std::accumulate(lengths_.begin(), lengths_.end(), std::size_t{0});
  weights_ = device.empty(real_numel, DType::f32, priced);
  gradients_ = device.empty(real_numel, DType::f32, priced);
  if (!gradients_.is_phantom()) device.upload(gradients_, std::vector<float>(real_numel));
}

void FlatWorkload::bucketize(const BucketSizes& sizes) {
  buckets_.clear();
  ranges_ = groups_.empty() ? cut_into_buckets(lengths_, weights_.numel(), sizes)
                            : cut_into_groups(lengths_, weights_.numel(), groups_);
  for (const BucketRange& r : ranges_)
    buckets_.push_back({static_cast<int>(buckets_.size()),
                        weights_.slice(r.begin, r.count, r.priced_count),
                        gradients_.slice(r.begin, r.count, r.priced_count),
                        names_.empty() ? std::string_view() : names_[r.first], places(r)});
}

/// Buckets of a model with the prices of another one begin anywhere in the model's tensors.
std::vector<TensorPlace> FlatWorkload::places(const BucketRange& range) const {
  std::vector<TensorPlace> tensors;
  if (weights_.numel() != weights_.priced_numel()) return tensors;
  std::size_t begin = 0;
  for (std::size_t i = range.first; i < range.last; ++i) {
    tensors.push_back({begin, lengths_[i], rows_.empty() ? 0 : rows_[i]});
    begin += lengths_[i];
  }
  return tensors;
}

}  // namespace trigram
