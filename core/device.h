#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/codec.h"
#include "core/cost.h"
#include "core/nn_ops.h"
#include "core/tensor.h"

namespace trigram {

class Philox;

/// One step of SGD: m = momentum * m + (g + weight_decay * w);  w -= lr * m. Without momentum, m is
/// not touched and may be Tensor{}.
struct SgdStep {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
};

/// One step of Adam (arXiv 1412.6980, Algorithm 1): m and v are moving averages of g and g^2,
/// w -= lr * (m / correction1) / (sqrt(v / correction2) + eps). `weight_decay` is added to the
/// gradient; `decoupled_weight_decay` (AdamW, arXiv 1711.05101) shrinks w by lr times itself.
struct AdamStep {
  float lr = 0;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float eps = 1e-8f;
  float correction1 = 1;  // 1 - beta1^t
  float correction2 = 1;  // 1 - beta2^t
  float weight_decay = 0;
  float decoupled_weight_decay = 0;
};

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
  virtual void sgd(const SgdStep& step, const Tensor& w, const Tensor& g, const Tensor& m) = 0;
  virtual void adam(const AdamStep& step, const Tensor& w, const Tensor& g, const Tensor& m,
                    const Tensor& v) = 0;
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
