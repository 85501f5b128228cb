#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device.h"
#include "core/nn/host_nn_ops.h"
#include "core/random/philox.h"

namespace trigram {

/// A pool of blocks of host memory. A block returns to the pool when the last tensor that shares it
/// is destroyed. Thread-safe. The pool lives until the device and all its blocks are gone.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// Bytes; one cache line, and the widest vector register.
  static constexpr std::size_t kAlignment = 64;

  static std::shared_ptr<MemoryPool> create() { return std::make_shared<MemoryPool>(); }
  ~MemoryPool();

  /// Returns at least `nbytes` uninitialised bytes; never null, even for 0 bytes.
  std::shared_ptr<std::byte> allocate(std::size_t nbytes);

 private:
  void release(std::byte* block, std::size_t size) noexcept;

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by block size
};

/// Tensors in host memory: the reference semantics of every operation. Results do not depend on the
/// machine. The device's only state is a memory pool, so any number of threads and ranks may share
/// a device. Phantoms and operands of unequal length are errors (InvariantError).
class HostDevice final : public Device {
 public:
  std::string_view name() const override { return "host"; }
  using Device::codec;
  using Device::empty;
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
  using Device::download;
  using Device::upload;
  void upload(const Tensor& dst, std::span<const std::byte> values) override;
  void download(std::span<std::byte> values, const Tensor& src) override;
  std::unique_ptr<Codec> codec(const CodecSpec& spec, const CodecKey& key) override;
  NnOps& nn() override { return host_nn_ops(); }

 private:
  std::shared_ptr<MemoryPool> pool_ = MemoryPool::create();
};

}  // namespace trigram
