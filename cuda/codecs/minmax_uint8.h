#pragma once

#include <span>
#include <vector>

#include "cuda/codecs/cuda_codec.h"
#include "cuda/kernels/codecs/minmax_uint8.h"

namespace trigram::cuda {

/// MinMaxUInt8 on a GPU: whatever is asked for is one pass over memory, wherever a chunk fits into
/// the registers of a cluster, and one launch for all chunks of a kind.
class MinMaxUInt8 final : public CudaCodec {
 public:
  using CudaCodec::CudaCodec;

  void encode(const Tensor& wire, const Tensor& x) override;
  void decode(const Tensor& x, const Tensor& wire) override;
  void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) override;
  void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) override;
  void encode_each_with_feedback(Device& device, std::span<const Tensor> wires,
                                 std::span<const Tensor> xs,
                                 std::span<const Tensor> residuals) override;
  void decode_mean(Device& device, const Tensor& x, std::span<const Tensor> wires) override;
  void encode_mean(Device& device, const Tensor& wire, std::span<const Tensor> wires,
                   const Tensor& mean, const Tensor* residual) override;

  /// Several owners' passes at once: wire i gets the code of the mean of an equal share of the
  /// incoming wires, which follow each other; `means` give the lengths and are not touched. No
  /// residuals, or one for each.
  void encode_means(std::span<const Tensor> wires, std::span<const Tensor> incoming,
                    std::span<const Tensor> means, std::span<const Tensor> residuals);

 private:
  void encode_chunks(const std::vector<minmax_uint8::Chunk>& chunks,
                     const std::vector<const std::byte*>& incoming, std::size_t of_mean,
                     bool feedback);
  void decode_means(std::span<const Tensor> xs, std::span<const Tensor> wires);
};

}  // namespace trigram::cuda
