#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace trigram {

enum class DType : unsigned char { f32, bf16, f16, u8 };

constexpr std::size_t size_of(DType type) {
  return type == DType::f32 ? 4 : type == DType::u8 ? 1 : 2;
}

/// A flat, one-dimensional tensor with a length, an element type and shared storage. A copy shares
/// the storage.
///
/// There are three kinds. A *valued* tensor has storage. A *phantom* has a size, and hence a cost
/// in networks and memory, but no storage and no values. A *priced* tensor carries a second length,
/// `priced_numel`, which networks and clocks see: a small real model can thus be trained with the
/// timing of a large model. Unless stated otherwise `priced_numel == numel`.
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::shared_ptr<std::byte> storage, std::size_t numel, DType dtype,
         std::size_t priced_numel)
      : storage_(std::move(storage)), numel_(numel), priced_numel_(priced_numel), dtype_(dtype) {}

  static Tensor phantom(std::size_t numel, DType dtype, std::size_t priced_numel) {
    return {nullptr, numel, dtype, priced_numel};
  }

  std::size_t numel() const { return numel_; }
  std::size_t nbytes() const { return numel_ * size_of(dtype_); }
  std::size_t priced_numel() const { return priced_numel_; }
  std::size_t priced_nbytes() const { return priced_numel_ * size_of(dtype_); }
  DType dtype() const { return dtype_; }

  /// True when there are no values. A valued tensor of length 0 still has (empty) storage.
  bool is_phantom() const { return storage_ == nullptr; }

  /// Null for a phantom; otherwise an address on the device that created the tensor.
  std::byte* data() const { return storage_.get(); }

  /// The values of a tensor in host memory; empty for a phantom.
  template <class T>
  std::span<T> values() const {
    return {reinterpret_cast<T*>(data()), is_phantom() ? 0 : numel_};
  }
  std::span<float> floats() const { return values<float>(); }

  /// A view of `count` elements starting at `begin`, priced as `priced_count` elements.
  Tensor slice(std::size_t begin, std::size_t count, std::size_t priced_count) const;
  /// The same, if the tensor is not priced (`priced_numel == numel`); else throws InvariantError.
  Tensor slice(std::size_t begin, std::size_t count) const;

  /// Cuts the tensor into `count` nearly equal parts and returns the parts [first, last) as one
  /// view. Real and priced lengths are each cut at floor(length * i / count), so that the parts
  /// cover the tensor without gaps and the longest has ceil(length / count) elements.
  Tensor parts(std::size_t first, std::size_t last, std::size_t count) const;
  Tensor part(std::size_t i, std::size_t count) const { return parts(i, i + 1, count); }

 private:
  std::shared_ptr<std::byte> storage_;
  std::size_t numel_ = 0;
  std::size_t priced_numel_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace trigram
