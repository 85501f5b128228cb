#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/workload.h"

namespace trigram {

/// A bucket as tensors [first, last) of the model and as a range of the flat vectors.
struct BucketCut {
  std::size_t first = 0, last = 0;
  std::size_t begin = 0, count = 0;  // real elements
  std::size_t priced_count = 0;
};

/// Collects whole tensors (priced lengths, in the order in which backward completes them) until a
/// bucket has its size, as BAGUA and PyTorch do: a bucket overshoots by its last tensor and large
/// tensors are never split. A size of 0 gives one tensor.
///
/// The `real_numel` elements of the flat vectors are cut at floor(real_numel * c / p), where c of
/// the p priced elements lie before the cut. So real parts cover the vectors without gaps, and a
/// bucket may hold no real element; when nothing is priced, cuts fall between tensors.
std::vector<BucketCut> cut_into_buckets(std::span<const std::size_t> priced_lengths,
                                        std::size_t real_numel, const BucketSizes& sizes);

/// The same where buckets hold so many tensors each, which are all.
std::vector<BucketCut> cut_into_groups(std::span<const std::size_t> priced_lengths,
                                       std::size_t real_numel,
                                       std::span<const std::size_t> tensors);

/// A workload's flat vectors in the order in which backward completes gradients, and their buckets.
class FlatWorkload : public Workload {
 public:
  void bucketize(const BucketSizes& sizes) override;
  std::span<Bucket> buckets() override { return buckets_; }
  Tensor weights() override { return weights_; }
  Tensor gradients() override { return gradients_; }

 protected:
  /// `lengths`: priced lengths of the tensors, in the order in which backward completes them;
  /// `names`: theirs, or none. The names' characters are the caller's, for as long as the workload.
  FlatWorkload(Device& device, std::vector<std::size_t> lengths, std::size_t real_numel,
               std::vector<std::string_view> names = {});

  /// From now on `bucketize` makes buckets of so many tensors each; by size if there are none.
  void group(std::span<const std::size_t> tensors) { groups_ = {tensors.begin(), tensors.end()}; }

  /// Which tensors bucket i consists of.
  const BucketCut& cut(std::size_t i) const { return cuts_[i]; }

 private:
  std::vector<std::size_t> lengths_, groups_;
  std::vector<std::string_view> names_;
  Tensor weights_, gradients_;
  std::vector<BucketCut> cuts_;
  std::vector<Bucket> buckets_;
};

}  // namespace trigram
