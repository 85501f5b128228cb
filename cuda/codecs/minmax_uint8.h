#pragma once

#include <span>
#include <vector>

#include "cuda/codecs/registry.h"
#include "cuda/kernels/codecs/minmax_uint8.h"

namespace trigram::cuda::minmax_uint8 {

/// Chunks, grouped by the kernel that encodes them.
struct EncodingPlan {
  std::vector<Chunk> in_warps, in_clusters, in_tiles;
  unsigned blocks = 1;    // blocks per cluster
  unsigned clusters = 0;  // number of clusters that run concurrently
};

/// Groups chunks for the current GPU. If `mean` is true, each chunk is the mean of several encoded
/// vectors (wires); the warp kernel cannot encode those.
EncodingPlan plan_encoding(const std::vector<Chunk>& chunks, bool mean);

}  // namespace trigram::cuda::minmax_uint8

namespace trigram::cuda {

/// MinMaxUInt8 on a GPU. Decoding takes one launch, and encoding one launch per group of an
/// EncodingPlan. Chunks that fit into the registers of a cluster are read only once.
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

  /// Like encode_mean, for several means at once. `incoming` consists of wires.size() groups of
  /// equal size, one after another; wires[i] becomes the encoded mean of the i-th group. `means`
  /// only give the lengths and are not written. `residuals` is empty or has one tensor per wire.
  void encode_means(std::span<const Tensor> wires, std::span<const Tensor> incoming,
                    std::span<const Tensor> means, std::span<const Tensor> residuals);

 private:
  void encode_chunks(const std::vector<minmax_uint8::Chunk>& chunks,
                     const std::vector<const std::byte*>& incoming, std::size_t wires_per_mean,
                     bool feedback);
  void encode_vectors(std::span<const Tensor> wires, std::span<const Tensor> xs,
                      std::span<const Tensor> residuals);
  void decode_means(std::span<const Tensor> xs, std::span<const Tensor> wires);
};

}  // namespace trigram::cuda
