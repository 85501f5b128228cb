#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/cuda/gpu_fixture.h"

namespace trigram {

/// Bitwise equality; any NaN equals any other NaN.
inline testing::AssertionResult same_values(const std::vector<float>& gpu,
                                            const std::vector<float>& host) {
  if (gpu.size() != host.size())
    return testing::AssertionFailure() << gpu.size() << " for " << host.size();
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    const bool both_nan = std::isnan(gpu[i]) && std::isnan(host[i]);
    if (!both_nan && std::memcmp(&gpu[i], &host[i], sizeof(float)) != 0)
      return testing::AssertionFailure() << "element " << i << ": " << gpu[i] << " for " << host[i];
  }
  return testing::AssertionSuccess();
}

/// A GPU's device with its own stream, for single-threaded tests.
class Gpu {
 public:
  static constexpr std::size_t kArenaBytes = std::size_t{64} << 20;

  Gpu()
      : arena_(CudaArena::create(kArenaBytes, "", blocks_of_tests())),
        device_(stream_, arena_, waiter_) {}

  CudaDevice& device() { return device_; }
  cudaStream_t stream() { return stream_; }

  /// A tensor of these values, `offset` elements after an aligned address.
  template <class T>
  Tensor tensor(const std::vector<T>& values, std::size_t offset = 0) {
    const DType type = sizeof(T) == 4 ? DType::f32 : DType::u8;
    const Tensor x = device_.empty(values.size() + offset, type).slice(offset, values.size());
    if (!values.empty()) device_.upload(x, std::as_bytes(std::span(values)));
    return x;
  }
  template <class T>
  std::vector<T> values(const Tensor& x) {
    std::vector<T> result(x.nbytes() / sizeof(T));
    if (!result.empty()) device_.download(std::as_writable_bytes(std::span(result)), x);
    return result;
  }

 private:
  OwnStream stream_;
  PatientWaiter waiter_;
  std::shared_ptr<CudaArena> arena_;
  CudaDevice device_;
};

}  // namespace trigram
