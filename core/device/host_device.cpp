#include "core/device/host_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

#include "core/codecs/registry.h"
#include "core/device/update_kernels.h"
#include "core/device/vector_ops.h"
#include "core/operands.h"
#include "core/random/philox.h"

namespace trigram {

Tensor HostDevice::empty(std::size_t numel, DType dtype, std::size_t priced_numel) {
  return {pool_->allocate(numel * size_of(dtype)), numel, dtype, priced_numel};
}

void HostDevice::fill(const Tensor& x, float value) {
  if (x.dtype() == DType::f32) return vector_ops::fill(x.numel(), floats(x), value);
  require_values(x);
  for (std::size_t i = 0; i < x.numel(); ++i) {
    vector_ops::convert(1, x.dtype(), x.data() + i * size_of(x.dtype()), DType::f32,
                        reinterpret_cast<const std::byte*>(&value));
  }
}

void HostDevice::fill_normal(const Tensor& x, Philox random) {
  std::generate_n(floats(x), x.numel(), [&random] { return random.normal(); });
}

void HostDevice::copy(const Tensor& dst, const Tensor& src) {
  require_values(dst);
  require_values(src);
  require_equal_length(dst, src);
  vector_ops::convert(src.numel(), dst.dtype(), dst.data(), src.dtype(), src.data());
}

void HostDevice::axpby(float a, const Tensor& x, float b, const Tensor& y) {
  require_equal_length(x, y);
  if (x.dtype() == y.dtype() && (x.dtype() == DType::f16 || x.dtype() == DType::bf16)) {
    require_values(x);
    require_values(y);
    return vector_ops::axpby(x.numel(), x.dtype(), a, x.data(), b, y.data());
  }
  vector_ops::axpby(x.numel(), a, floats(x), b, floats(y));
}

void HostDevice::maximum(const Tensor& x, const Tensor& y) {
  require_equal_length(x, y);
  vector_ops::maximum(x.numel(), floats(x), floats(y));
}

void HostDevice::cut_below(float magnitude, const Tensor& x) {
  vector_ops::cut_below(x.numel(), magnitude, floats(x));
}

void HostDevice::update(const UpdateRule& rule, const Tensor& w, const Tensor& g,
                        std::span<const Tensor> states) {
  require_equal_length(w, g);
  update_kernels::update(w.numel(), rule, floats(w), floats(g), state_operands(rule, w, states));
}

void HostDevice::update_each(const TensorRule& rule, const Tensor& w, const Tensor& g,
                             std::span<const Tensor> states, std::span<const TensorPlace> tensors) {
  require_equal_length(w, g);
  require_cover(w, tensors);
  const auto all = state_operands(rule, w, states);
  const TensorRule for_vectors =
      std::visit([](const auto& r) -> TensorRule { return r.for_vectors(); }, rule);
  for (const TensorPlace& t : tensors) {
    auto own = all;
    for (float*& state : own)
      if (state) state += t.begin;
    update_kernels::update_tensor(t.numel, t.is_vector() ? for_vectors : rule, floats(w) + t.begin,
                                  floats(g) + t.begin, own);
  }
}

double HostDevice::norm2(const Tensor& x) { return vector_ops::norm2(x.numel(), floats(x)); }

void HostDevice::upload(const Tensor& dst, std::span<const std::byte> values) {
  require_values(dst);
  require_bytes(dst, values.size());
  std::copy_n(values.data(), values.size(), dst.data());
}

void HostDevice::download(std::span<std::byte> values, const Tensor& src) {
  require_values(src);
  require_bytes(src, values.size());
  std::copy_n(src.data(), src.nbytes(), values.begin());
}

std::unique_ptr<Codec> HostDevice::codec(const CodecSpec& spec, const CodecKey& key) {
  return make_host_codec(spec, key);
}

namespace {

constexpr std::align_val_t kAlign{MemoryPool::kAlignment};

// Rounds up to one of four sizes per octave: this wastes little, and tensors of similar size can
// share blocks.
std::size_t block_size(std::size_t nbytes) {
  nbytes = std::max(nbytes, MemoryPool::kAlignment);
  const std::size_t step = std::max(std::bit_floor(nbytes) / 4, MemoryPool::kAlignment);
  return (nbytes + step - 1) / step * step;
}

// Uses the nothrow form of new, because an allocator that replaces the throwing form may end the
// process.
std::byte* new_block(std::size_t size) {
  void* const block = operator new(size, kAlign, std::nothrow);
  if (!block) throw std::runtime_error(fmt::format("there is no memory for {} bytes", size));
  return static_cast<std::byte*>(block);
}

}  // namespace

MemoryPool::~MemoryPool() {
  for (const auto& [size, blocks] : free_) {
    for (std::byte* block : blocks) operator delete(block, kAlign);
  }
}

std::shared_ptr<std::byte> MemoryPool::allocate(std::size_t nbytes) {
  const std::size_t size = block_size(nbytes);
  std::byte* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& blocks = free_[size];
    if (!blocks.empty()) {
      block = blocks.back();
      blocks.pop_back();
    }
  }
  if (!block) block = new_block(size);
  return {block, [pool = shared_from_this(), size](std::byte* b) { pool->release(b, size); }};
}

void MemoryPool::release(std::byte* block, std::size_t size) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_[size].push_back(block);
  } catch (const std::bad_alloc&) {
    operator delete(block, kAlign);
  }
}

}  // namespace trigram
