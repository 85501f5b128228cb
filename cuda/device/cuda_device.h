#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "core/accelerator_backend.h"
#include "core/device.h"
#include "core/random/philox.h"
#include "cuda/device/arena.h"
#include "cuda/device/cuda_nn_ops.h"
#include "cuda/device/staging.h"

namespace trigram {

/// Tensors in the memory of a GPU, and operations that are queued on one stream. Elementwise
/// operations and norm2 give the same bits as HostDevice, except for the payload of NaNs. Phantoms
/// and operands of unequal length are errors (InvariantError).
///
/// Create and use it on the stream's thread. Create it at start-up, because it allocates pinned
/// memory and a cuBLAS handle. Its destructor may wait for all work of the GPU. The stream and the
/// waiter must outlive it.
class CudaDevice final : public Device {
 public:
  /// Operations that block the host wait through `waiter`.
  CudaDevice(cudaStream_t stream, std::shared_ptr<CudaArena> arena, Waiter& waiter);

  std::string_view name() const override { return "cuda"; }
  using Device::codec;
  using Device::download;
  using Device::empty;
  using Device::upload;
  /// Blocks only if all memory is in use (CudaArena::allocate).
  Tensor empty(std::size_t numel, DType dtype, std::size_t priced_numel) override;
  void fill(const Tensor& x, float value) override;
  void fill_normal(const Tensor& x, Philox random) override;
  void copy(const Tensor& dst, const Tensor& src) override;
  void axpby(float a, const Tensor& x, float b, const Tensor& y) override;
  void maximum(const Tensor& x, const Tensor& y) override;
  void cut_below(float magnitude, const Tensor& x) override;
  using Device::update;
  void update(const UpdateRule& rule, const Tensor& w, const Tensor& g,
              std::span<const Tensor> states) override;
  void update_each(const TensorRule& rule, const Tensor& w, const Tensor& g,
                   std::span<const Tensor> states, std::span<const TensorPlace> tensors) override;
  double norm2(const Tensor& x) override;
  void upload(const Tensor& dst, std::span<const std::byte> values) override;
  void download(std::span<std::byte> values, const Tensor& src) override;
  std::unique_ptr<Codec> codec(const CodecSpec& spec, const CodecKey& key) override;
  NnOps& nn() override { return nn_; }

  cudaStream_t stream() const { return stream_; }

 private:
  /// Registers the stream with the arena for the lifetime of this object.
  struct Membership {
    Membership(cudaStream_t stream, std::shared_ptr<CudaArena> arena);
    ~Membership();
    cudaStream_t stream;
    std::shared_ptr<CudaArena> arena;
  };

  const cudaStream_t stream_;
  Waiter& waiter_;
  const Membership membership_;
  cuda::Staging staging_;
  Tensor norm_;  // scratch memory of norm2, and its result
  CudaNnOps nn_;
};

}  // namespace trigram
