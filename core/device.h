#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/codec.h"
#include "core/cost.h"
#include "core/nn_ops.h"
#include "core/tensor.h"
#include "core/update_rules.h"

namespace trigram {

class Philox;

/// Vector operations, ordered on the stream of the Context that holds the device.
///
/// HostDevice gives the reference semantics. NullDevice makes phantoms and computes nothing.
/// TimedDevice wraps either and charges each operation's Cost to a stream. The operands of an
/// operation have equal lengths and do not overlap, unless they are the same tensor.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;

  /// An uninitialised tensor. Memory is pooled, so a call is cheap after the first use of a size.
  virtual Tensor empty(std::size_t numel, DType dtype, std::size_t priced_numel) = 0;
  virtual void fill(const Tensor& x, float value) = 0;
  /// x = random numbers with mean 0 and variance 1, in the order in which Philox::normal draws
  /// them.
  virtual void fill_normal(const Tensor& x, Philox random) = 0;
  /// dst = src. If the element types differ, values are converted, rounding to nearest even.
  virtual void copy(const Tensor& dst, const Tensor& src) = 0;
  /// y = a * x + b * y, in f32, f16 or bf16; each result is rounded once. If b = 0, y is not read.
  virtual void axpby(float a, const Tensor& x, float b, const Tensor& y) = 0;
  /// y = max(x, y), element by element.
  virtual void maximum(const Tensor& x, const Tensor& y) = 0;
  /// x = 0 where |x| < magnitude. NaNs stay.
  virtual void cut_below(float magnitude, const Tensor& x) = 0;
  /// One step of an element-wise optimizer: updates the weights w and the states with the gradient
  /// g. The rule defines the number and the meaning of the states. All tensors are f32. One launch.
  virtual void update(const UpdateRule& rule, const Tensor& w, const Tensor& g,
                      std::span<const Tensor> states) = 0;
  /// One step of an optimizer that needs the norms of single tensors. `tensors` cover w without
  /// gaps, in order. Three launches, whatever the number of tensors.
  virtual void update_each(const TensorRule& rule, const Tensor& w, const Tensor& g,
                           std::span<const Tensor> states,
                           std::span<const TensorPlace> tensors) = 0;
  /// The Euclidean norm; blocks the host. NaN for a phantom.
  virtual double norm2(const Tensor& x) = 0;

  /// Copies host memory to `dst`, which has the same number of bytes. `values` may be reused at
  /// once.
  virtual void upload(const Tensor& dst, std::span<const std::byte> values) = 0;
  /// Copies the bytes of a tensor to host memory; blocks the host.
  virtual void download(std::span<std::byte> values, const Tensor& src) = 0;

  /// A codec whose encode and decode run on this device.
  virtual std::unique_ptr<Codec> codec(const CodecSpec& spec, const CodecKey& key) = 0;
  /// The operations of neural networks on this device.
  virtual NnOps& nn() = 0;

  std::unique_ptr<Codec> codec(const CodecSpec& spec) { return codec(spec, {}); }
  void update(const UpdateRule& rule, const Tensor& w, const Tensor& g,
              std::initializer_list<Tensor> states = {}) {
    update(rule, w, g, std::span(states.begin(), states.size()));
  }
  /// Uploads typed values; does nothing for a phantom.
  template <class T>
  void upload(const Tensor& dst, const std::vector<T>& values) {
    if (!dst.is_phantom()) upload(dst, std::as_bytes(std::span(values)));
  }
  /// The values of a tensor, copied to host memory; empty for a phantom.
  template <class T = float>
  std::vector<T> download(const Tensor& src) {
    if (src.is_phantom()) return {};
    std::vector<T> values(src.nbytes() / sizeof(T));
    download(std::as_writable_bytes(std::span(values)), src);
    return values;
  }
  Tensor empty(std::size_t numel, DType dtype = DType::f32) { return empty(numel, dtype, numel); }
  Tensor empty_like(const Tensor& x) { return empty(x.numel(), x.dtype(), x.priced_numel()); }
  Tensor zeros_like(const Tensor& x) {
    const Tensor zeros = empty_like(x);
    fill(zeros, 0);
    return zeros;
  }
  Tensor copy_of(const Tensor& x) {
    const Tensor result = empty_like(x);
    copy(result, x);
    return result;
  }
};

}  // namespace trigram
