#pragma once

#include "core/device.h"
#include "core/nn_ops.h"
#include "core/random/philox.h"

namespace trigram {

/// Neural-network operations on phantoms; they do nothing.
class NullNnOps final : public NnOps {
 public:
  void gemm(const Gemm&, const Tensor&, const Tensor&, float, const Tensor&) override {}
  void orthonormalise(std::size_t, std::size_t, const Tensor&, Dependent) override {}
  void normalise(std::size_t, std::size_t, const Tensor&) override {}
  void bias(std::size_t, std::size_t, const Tensor&, const Tensor&) override {}
  void bias_grad(std::size_t, std::size_t, const Tensor&, const Tensor&) override {}
  void relu(const Tensor&) override {}
  void relu_grad(const Tensor&, const Tensor&) override {}
  void im2col(const Window&, const Tensor&, const Tensor&) override {}
  void col2im(const Window&, const Tensor&, const Tensor&) override {}
  void max_pool(const Window&, const Tensor&, const Tensor&, const Tensor&) override {}
  void max_pool_grad(const Window&, const Tensor&, const Tensor&, const Tensor&) override {}
  void softmax_xent(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&,
                    const Tensor&) override {}
  void add(const Tensor&, const Tensor&) override {}
  void embedding(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&) override {}
  void embedding_grad(std::size_t, std::size_t, const Tensor&, const Tensor&, float,
                      const Tensor&) override {}
  void layer_norm(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&,
                  const Tensor&, const Tensor&, const Tensor&) override {}
  void layer_norm_grad(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&,
                       const Tensor&, const Tensor&) override {}
  void gelu(const Tensor&, const Tensor&) override {}
  void gelu_grad(const Tensor&, const Tensor&) override {}
  void attention(const Attention&, const Tensor&, const Tensor&, const Tensor&) override {}
  void attention_grad(const Attention&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                      const Tensor&) override {}
  void gru(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
           const Tensor&) override {}
  void gru_grad(std::size_t, std::size_t, const Tensor&, const Tensor&, const Tensor&,
                const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {}
};

/// Creates phantoms and computes nothing: the device for runs that only measure time.
class NullDevice final : public Device {
 public:
  std::string_view name() const override { return "null"; }
  using Device::codec;
  using Device::empty;
  Tensor empty(std::size_t numel, DType dtype, std::size_t priced_numel) override {
    return Tensor::phantom(numel, dtype, priced_numel);
  }
  void fill(const Tensor&, float) override {}
  void fill_normal(const Tensor&, Philox) override {}
  void copy(const Tensor&, const Tensor&) override {}
  void axpby(float, const Tensor&, float, const Tensor&) override {}
  void maximum(const Tensor&, const Tensor&) override {}
  void cut_below(float, const Tensor&) override {}
  using Device::update;
  void update(const UpdateRule&, const Tensor&, const Tensor&, std::span<const Tensor>) override {}
  void update_each(const TensorRule&, const Tensor&, const Tensor&, std::span<const Tensor>,
                   std::span<const TensorPlace>) override {}
  double norm2(const Tensor&) override;
  using Device::download;
  using Device::upload;
  void upload(const Tensor&, std::span<const std::byte>) override {}
  void download(std::span<std::byte>, const Tensor&) override {}
  /// A codec that only knows the sizes of wires.
  std::unique_ptr<Codec> codec(const CodecSpec& spec, const CodecKey& key) override;
  NnOps& nn() override { return nn_; }

 private:
  NullNnOps nn_;
};

}  // namespace trigram
