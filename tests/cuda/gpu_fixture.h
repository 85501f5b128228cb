#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "core/device/host_device.h"
#include "core/element_types.h"
#include "core/random/philox.h"
#include "cuda/device/cuda_device.h"
#include "tests/cuda/device_buffer.h"

namespace trigram {

/// Waits on this thread, with a timeout.
class PatientWaiter final : public Waiter {
 public:
  void await(const Wait&, const std::function<bool()>& ready) override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!ready()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("waited for 30 s");
      std::this_thread::yield();
    }
  }
};

/// Under compute-sanitizer, scripts/gpu.py makes every tensor a separate allocation.
inline CudaBlocks blocks_of_tests() {
  const char* const each = std::getenv("TRIGRAM_CUDA_ALLOCATE_EACH");
  return each && std::strcmp(each, "1") == 0 ? CudaBlocks::allocated : CudaBlocks::carved;
}

/// Skips all tests if the program was built on a machine with a GPU but runs on a machine without
/// one.
class NeedsGpu : public testing::Environment {
 public:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0)
      GTEST_SKIP() << "no GPU: "
                   << (error == cudaSuccess ? "CUDA sees none" : cudaGetErrorString(error));
  }
};
inline testing::Environment* const needs_gpu = testing::AddGlobalTestEnvironment(new NeedsGpu);

/// A GPU's device with one stream, and a host's device on which tests perform the same operations.
class GpuTest : public testing::Test {
 protected:
  static constexpr std::size_t kStrip = 37;

  /// The same values on the host and on the GPU, between strips of other values.
  struct Twin {
    Tensor host, gpu;          // the values
    Tensor host_all, gpu_all;  // the strips and the values between them
  };

  /// Creates a Twin whose values begin `offset` elements after an aligned address.
  Twin twin(const std::vector<float>& values, DType dtype = DType::f32, std::size_t offset = 0) {
    const std::size_t before = kStrip / 4 * 4 + offset, n = values.size(),
                      all = before + n + kStrip;
    Twin t{{}, {}, host.empty(all, dtype), gpu.empty(all, dtype)};
    host.fill(t.host_all, 77);
    t.host = t.host_all.slice(before, n);
    element::visit_type(dtype, [&]<class Type>(Type) {
      auto* const out = reinterpret_cast<typename Type::Stored*>(t.host.data());
      for (std::size_t i = 0; i < n; ++i) out[i] = Type::store(values[i]);
    });
    gpu.upload(t.gpu_all, {t.host_all.data(), t.host_all.nbytes()});
    t.gpu = t.gpu_all.slice(before, n);
    return t;
  }

  static std::uint32_t stored(const std::byte* data, DType dtype, std::size_t i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, data + i * size_of(dtype), size_of(dtype));
    return bits;
  }
  static bool is_nan(DType dtype, std::uint32_t bits) {
    if (dtype == DType::u8) return false;
    if (dtype == DType::f32) return std::isnan(std::bit_cast<float>(bits));
    const auto half = static_cast<std::uint16_t>(bits);
    return std::isnan(dtype == DType::f16 ? f32_from_f16(half) : f32_from_bf16(half));
  }

  /// Bitwise equality, including the strips; any NaN equals any other NaN.
  void expect_same(const Twin& t, const std::string& what = "") {
    const DType dtype = t.host.dtype();
    const auto bytes = gpu.download<std::byte>(t.gpu_all);
    for (std::size_t i = 0; i < t.host_all.numel(); ++i) {
      const std::uint32_t expected = stored(t.host_all.data(), dtype, i);
      const std::uint32_t actual = stored(bytes.data(), dtype, i);
      if (expected == actual || (is_nan(dtype, expected) && is_nan(dtype, actual))) continue;
      FAIL() << what << ": element " << i << " of " << t.host.numel() << " within strips of "
             << kStrip << " is " << std::hex << actual << ", on the host " << expected;
    }
  }

  /// Numbers of all kinds, with special values at the beginning and at the end.
  static std::vector<float> numbers(std::size_t n, int seed = 0) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(),
                                  -0.0f,
                                  0.0f,
                                  kInf,
                                  -kInf,
                                  1e-40f,
                                  -1e-44f,
                                  255.5f,
                                  254.5f,
                                  0.5f,
                                  1.5f,
                                  65504,
                                  65519.996f,
                                  65520,
                                  5.9e-8f,
                                  2.9e-8f,
                                  6.1e-5f,
                                  3e38f,
                                  -3e38f,
                                  1.00390625f,
                                  1.01171875f,
                                  256,
                                  -1,
                                  8388609};
    Philox random(1, 0, seed, Purpose::gradient_noise);
    std::vector<float> x(n);
    for (float& value : x) value = random.normal();
    for (std::size_t i = 0; i < n && i < std::size(kSpecial); ++i) {
      // Every pair of special values occurs for some seed.
      const float special = kSpecial[(i + static_cast<std::size_t>(seed)) % std::size(kSpecial)];
      x[i] = special;
      if (n > 2 * std::size(kSpecial)) x[n - 1 - i] = special;
    }
    return x;
  }

  /// Numbers without NaN, without infinity, and without values that lead to them.
  static std::vector<float> tame_numbers(std::size_t n, int seed = 0) {
    Philox random(2, 0, seed, Purpose::gradient_noise);
    std::vector<float> x(n);
    for (float& value : x) value = random.normal();
    return x;
  }

  PatientWaiter waiter;
  OwnStream stream;
  std::shared_ptr<CudaArena> arena = CudaArena::create(64 << 20, "give it more", blocks_of_tests());
  CudaDevice gpu{stream, arena, waiter};
  HostDevice host;
};

}  // namespace trigram
