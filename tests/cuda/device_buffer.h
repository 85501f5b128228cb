#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cuda/support/error.h"

namespace trigram {

/// n elements of device memory that begin `offset` elements after an aligned address, between two
/// strips of sentinels that no kernel may change.
template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t n, std::size_t offset = 0)
      : n_(n), begin_(kStrip + offset), host_(n + begin_ + kStrip, sentinel()) {
    cuda::check(cudaMalloc(&memory_, host_.size() * sizeof(T)), "cudaMalloc");
    write();
  }
  explicit DeviceBuffer(const std::vector<T>& values, std::size_t offset = 0)
      : DeviceBuffer(values.size(), offset) {
    std::copy(values.begin(), values.end(), host_.begin() + static_cast<std::ptrdiff_t>(begin_));
    write();
  }
  ~DeviceBuffer() { cudaFree(memory_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() const { return memory_ + begin_; }
  std::size_t size() const { return n_; }

  /// Waits for the stream and returns the values. Expects unchanged sentinels.
  std::vector<T> values(cudaStream_t stream = nullptr) const {
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::vector<T> all(host_.size());
    cuda::check(cudaMemcpy(all.data(), memory_, all.size() * sizeof(T), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
    const T expected = sentinel();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i >= begin_ && i < begin_ + n_) continue;
      EXPECT_EQ(0, std::memcmp(&all[i], &expected, sizeof(T)))
          << "written outside of " << n_ << " elements, at "
          << static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(begin_);
    }
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin_);
    return {first, first + static_cast<std::ptrdiff_t>(n_)};
  }

 private:
  static constexpr std::size_t kStrip = 64;

  static T sentinel() {
    T value;
    std::memset(static_cast<void*>(&value), 0x5A, sizeof(T));
    return value;
  }
  void write() {
    cuda::check(cudaMemcpy(memory_, host_.data(), host_.size() * sizeof(T), cudaMemcpyHostToDevice),
                "cudaMemcpy");
  }

  std::size_t n_, begin_;
  std::vector<T> host_;
  T* memory_ = nullptr;
};

/// A CUDA stream owned by the object.
class OwnStream {
 public:
  OwnStream() {
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Lengths at which vectorised loops are error-prone.
inline const std::vector<std::size_t>& awkward_lengths() {
  static const std::vector<std::size_t> lengths = {0,  1,  3,   4,    5,    31,   32,
                                                   33, 63, 255, 1023, 1025, 4099, 100003};
  return lengths;
}

}  // namespace trigram
