#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/workload.h"

namespace trigram {

/// The tensors and the elements of a bucket. Tensors are numbered in the order in which backward
/// completes them. The flat vectors have real elements, which are stored, and priced elements,
/// which determine costs.
struct BucketRange {
  std::size_t first = 0, last = 0;   // the tensors [first, last)
  std::size_t begin = 0, count = 0;  // the real elements [begin, begin + count)
  std::size_t priced_count = 0;      // number of priced elements
};

/// Fills each bucket with whole tensors until it has at least sizes.min_bytes(bucket) bytes, at 4
/// bytes per priced element, as BAGUA and PyTorch do. Tensors are never split, so a bucket may
/// exceed its size; the last bucket may be smaller. A size of 0 gives one tensor per bucket.
///
/// A bucket begins at the real element floor(real_numel * c / p), where c of the p priced elements
/// are in earlier buckets. The buckets cover the flat vectors without gaps. A bucket may have no
/// real element. If there are as many real as priced elements, buckets begin where tensors begin.
std::vector<BucketRange> cut_into_buckets(std::span<const std::size_t> priced_lengths,
                                          std::size_t real_numel, const BucketSizes& sizes);

/// The number of buckets that cut_into_buckets makes of tensors with as many real as priced
/// elements.
std::size_t count_buckets(std::span<const std::size_t> lengths, const BucketSizes& sizes);

/// Makes bucket i hold the next tensors[i] tensors; the sum must be the number of tensors. The
/// boundaries between real elements follow the rule of cut_into_buckets.
std::vector<BucketRange> cut_into_groups(std::span<const std::size_t> priced_lengths,
                                         std::size_t real_numel,
                                         std::span<const std::size_t> tensors);

/// A workload with flat vectors of weights and of gradients, which its buckets cut into pieces.
/// Tensors lie in these vectors in the order in which backward completes their gradients.
class FlatWorkload : public Workload {
 public:
  void bucketize(const BucketSizes& sizes) override;
  std::span<Bucket> buckets() override { return buckets_; }
  Tensor weights() override { return weights_; }
  Tensor gradients() override { return gradients_; }

 protected:
  /// `lengths` are the priced lengths of the tensors in elements, in the order in which backward
  /// completes them. `names` are the tensors' names, or empty; the caller owns the characters,
  /// which must outlive the workload. `rows` are the tensors' rows (TensorPlace), or empty if
  /// shapes are unknown.
  FlatWorkload(Device& device, std::vector<std::size_t> lengths, std::size_t real_numel,
               std::vector<std::string_view> names = {}, std::vector<std::size_t> rows = {});

  /// Makes `bucketize` ignore the sizes and put the next tensors[i] tensors into bucket i. Has no
  /// effect if `tensors` is empty.
  void group(std::span<const std::size_t> tensors) { groups_ = {tensors.begin(), tensors.end()}; }

  const BucketRange& range(std::size_t bucket) const { return ranges_[bucket]; }

 private:
  std::vector<TensorPlace> places(const BucketRange& range) const;

  std::vector<std::size_t> lengths_, groups_, rows_;
  std::vector<std::string_view> names_;
  Tensor weights_, gradients_;
  std::vector<BucketRange> ranges_;
  std::vector<Bucket> buckets_;
};

}  // namespace trigram
