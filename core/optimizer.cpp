#include "core/optimizer.h"

namespace trigram {

std::vector<Tensor> cut_like_buckets(Device& device, std::span<const Tensor> pieces,
                                     Workload& workload) {
  const Tensor whole = device.empty_like(workload.weights());
  std::size_t begin = 0;
  const auto next = [&](const Tensor& like) {
    begin += like.numel();
    return whole.slice(begin - like.numel(), like.numel(), like.priced_numel());
  };
  for (const Tensor& piece : pieces) device.copy(next(piece), piece);
  TRIGRAM_CHECK(begin == whole.numel(), "a state of {} elements for {} weights", begin,
                whole.numel());
  begin = 0;
  std::vector<Tensor> cut;
  for (const Bucket& bucket : workload.buckets()) cut.push_back(next(bucket.weight));
  return cut;
}

}  // namespace trigram
