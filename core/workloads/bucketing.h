#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/workload.h"

namespace trigram {

/// A bucket: the tensors [first, last) of the model, and a range of the flat vectors.
struct BucketCut {
  std::size_t first = 0, last = 0;
  std::size_t begin = 0, count = 0;  // real elements
  std::size_t priced_count = 0;
};

/// Collects whole tensors (by priced length, in the order in which backward completes them) until a
/// bucket has its size, as BAGUA and PyTorch do: a bucket exceeds its size by part of its last
/// tensor, and large tensors are never split. A size of 0 gives one tensor per bucket.
///
/// The `real_numel` elements of the flat vectors are cut at floor(real_numel * c / p), where c of
/// the p priced elements are before the cut. So the real parts cover the vectors without gaps, and
/// a bucket may hold no real element; if the vectors are not priced, cuts fall between tensors.
std::vector<BucketCut> cut_into_buckets(std::span<const std::size_t> priced_lengths,
                                        std::size_t real_numel, const BucketSizes& sizes);

/// The same with the given number of tensors in each bucket; the numbers must add up to all
/// tensors.
std::vector<BucketCut> cut_into_groups(std::span<const std::size_t> priced_lengths,
                                       std::size_t real_numel,
                                       std::span<const std::size_t> tensors);

/// A workload's flat vectors, in the order in which backward completes gradients, and their
/// buckets.
class FlatWorkload : public Workload {
 public:
  void bucketize(const BucketSizes& sizes) override;
  std::span<Bucket> buckets() override { return buckets_; }
  Tensor weights() override { return weights_; }
  Tensor gradients() override { return gradients_; }

 protected:
  /// `lengths`: priced lengths of the tensors, in the order in which backward completes them;
  /// `names`: the tensors' names, or empty. The caller owns the characters, which must outlive the
  /// workload.
  FlatWorkload(Device& device, std::vector<std::size_t> lengths, std::size_t real_numel,
               std::vector<std::string_view> names = {});

  /// Makes `bucketize` put the given number of tensors into each bucket; if empty, it goes by size.
  void group(std::span<const std::size_t> tensors) { groups_ = {tensors.begin(), tensors.end()}; }

  /// The range of tensors in bucket i.
  const BucketCut& cut(std::size_t i) const { return cuts_[i]; }

 private:
  std::vector<std::size_t> lengths_, groups_;
  std::vector<std::string_view> names_;
  Tensor weights_, gradients_;
  std::vector<BucketCut> cuts_;
  std::vector<Bucket> buckets_;
};

}  // namespace trigram
