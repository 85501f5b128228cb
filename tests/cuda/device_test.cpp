// Compares CudaDevice with HostDevice, operation by operation.

#include "cuda/device/cuda_device.h"

#include <gtest/gtest.h>

#include "core/check.h"
#include "core/random/philox.h"
#include "tests/cuda/gpu_fixture.h"

namespace trigram::device_test {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16, DType::u8};

TEST_F(GpuTest, FillsAnyTypeAtAnyAddress) {
  for (const DType dtype : kTypes) {
    for (const std::size_t n : awkward_lengths()) {
      for (const std::size_t offset : {0, 1, 3}) {
        const Twin x = twin(std::vector<float>(n), dtype, offset);
        host.fill(x.host, 1.1f);
        gpu.fill(x.gpu, 1.1f);
        expect_same(x);
      }
    }
  }
}

TEST_F(GpuTest, ConvertsBetweenAllTypes) {
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      for (const std::size_t n : {0, 1, 5, 64, 1027}) {
        for (const std::size_t offset : {0, 1, 2}) {
          const Twin src = twin(numbers(n), from, offset);
          const Twin dst = twin(std::vector<float>(n), to, n % 3);
          host.copy(dst.host, src.host);
          gpu.copy(dst.gpu, src.gpu);
          expect_same(dst, "copy");
        }
      }
    }
  }
}

TEST_F(GpuTest, ConvertsEveryBitPatternOfTheSixteenBitFormats) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor all = host.empty(1 << 16, dtype), on_gpu = gpu.empty(1 << 16, dtype);
    for (std::size_t i = 0; i < all.numel(); ++i) {
      all.values<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
    }
    gpu.upload(on_gpu, {all.data(), all.nbytes()});
    for (const DType to : {DType::f32, DType::u8}) {
      const Twin result = twin(std::vector<float>(all.numel()), to);
      host.copy(result.host, all);
      gpu.copy(result.gpu, on_gpu);
      expect_same(result);
    }
  }
}

TEST_F(GpuTest, CombinesVectors) {
  constexpr std::pair<float, float> kFactors[] = {{1, 1}, {0.3f, 0}, {0.3f, -1.7f}, {1, 0.5f}};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    for (const auto& [a, b] : kFactors) {
      for (const std::size_t n : {0, 1, 4, 7, 65, 1030}) {
        for (std::size_t offset = 0; offset < 4; ++offset) {
          const int seed = static_cast<int>(n + offset);
          const Twin x = twin(numbers(n, seed), dtype, 1), y = twin(numbers(n), dtype, offset);
          host.axpby(a, x.host, b, y.host);
          gpu.axpby(a, x.gpu, b, y.gpu);
          expect_same(y, "axpby");
          expect_same(x, "the operand");
        }
      }
    }
  }
}

TEST_F(GpuTest, CombinesAVectorWithItself) {
  const Twin x = twin(numbers(1001), DType::f32, 1);
  host.axpby(0.7f, x.host, 0.6f, x.host);
  gpu.axpby(0.7f, x.gpu, 0.6f, x.gpu);
  expect_same(x);
}

TEST_F(GpuTest, LargeVectorsTakeSeveralSteps) {
  const Twin x = twin(tame_numbers(1'000'003)), y = twin(tame_numbers(1'000'003, 1), DType::f32, 3);
  host.axpby(0.9f, x.host, 0.1f, y.host);
  gpu.axpby(0.9f, x.gpu, 0.1f, y.gpu);
  expect_same(y);
}

TEST_F(GpuTest, TakesTheElementwiseMaximum) {
  for (int seed = 0; seed < 24; ++seed) {
    const Twin x = twin(numbers(100)), y = twin(numbers(100, seed), DType::f32, 1);
    host.maximum(x.host, y.host);
    gpu.maximum(x.gpu, y.gpu);
    expect_same(y);
  }
}

TEST_F(GpuTest, SetsSmallElementsToZero) {
  for (const float magnitude : {0.0f, 0.5f, 1e30f})
    for (const std::size_t offset : {0, 1}) {
      const Twin x = twin(numbers(1003), DType::f32, offset);
      host.cut_below(magnitude, x.host);
      gpu.cut_below(magnitude, x.gpu);
      expect_same(x);
    }
}

TEST_F(GpuTest, DrawsTheSameNormalNumbersAsTheHost) {
  for (const std::size_t n : {0, 1, 5, 1025}) {
    for (int drawn = 0; drawn < 9; ++drawn) {
      Philox random(7, 3, 11, Purpose::weights);
      for (int i = 0; i < drawn; ++i) random.bits();
      const Twin x = twin(std::vector<float>(n), DType::f32, 1);
      host.fill_normal(x.host, random);
      gpu.fill_normal(x.gpu, random);
      expect_same(x, "after " + std::to_string(drawn) + " draws");
    }
  }
}

TEST_F(GpuTest, NormEqualsTheHosts) {
  // The last length takes the largest number of blocks. For the length before it, a thread of the
  // last kernel adds up the sums of several blocks.
  for (const std::size_t n : {0, 1, 3, 255, 1030, 4097, 8195, 300'001, 1'300'003, 2'200'001}) {
    for (const std::size_t offset : {0, 1}) {
      const Twin x = twin(tame_numbers(n), DType::f32, offset);
      EXPECT_EQ(host.norm2(x.host), gpu.norm2(x.gpu)) << n;
    }
  }
  EXPECT_TRUE(std::isnan(gpu.norm2(twin(numbers(100)).gpu)));
}

TEST_F(GpuTest, TheNormDoesNotDependOnTheAddress) {
  const std::vector<float> values = tame_numbers(54'321);
  const double norm = gpu.norm2(twin(values).gpu);
  for (const std::size_t offset : {1, 2, 3}) {
    EXPECT_EQ(norm, gpu.norm2(twin(values, DType::f32, offset).gpu));
  }
}

TEST_F(GpuTest, CopiesToAndFromTheHost) {
  for (const std::size_t nbytes : {0, 1, 1 << 20, (5 << 20) + 3}) {
    std::vector<unsigned char> values(nbytes);
    for (std::size_t i = 0; i < nbytes; ++i)
      values[i] = static_cast<unsigned char>(i * 7 + i / 256);
    const Tensor x = gpu.empty(nbytes, DType::u8);
    auto source = values;
    gpu.upload(x, source);
    std::fill(source.begin(), source.end(), 0);  // the source may be reused at once
    EXPECT_EQ(values, gpu.download<unsigned char>(x)) << nbytes;
  }
}

TEST_F(GpuTest, SmallUploadsKeepTheirOrder) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back(gpu.empty(100));
    gpu.upload(tensors.back(), std::vector<float>(100, static_cast<float>(i)));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(std::vector<float>(100, static_cast<float>(i)),
              gpu.download(tensors[static_cast<std::size_t>(i)]));
  }
}

TEST_F(GpuTest, RejectsTheSameOperandsAsTheHost) {
  const Tensor x = gpu.empty(8), y = gpu.empty(9), half = gpu.empty(8, DType::f16);
  const Tensor phantom = Tensor::phantom(8, DType::f32, 8);
  EXPECT_THROW(gpu.copy(x, y), InvariantError);
  EXPECT_THROW(gpu.copy(x, phantom), InvariantError);
  EXPECT_THROW(gpu.axpby(1, x, 1, half), InvariantError);
  EXPECT_THROW(gpu.axpby(1, phantom, 1, x), InvariantError);
  EXPECT_THROW(gpu.maximum(x, y), InvariantError);
  EXPECT_THROW(gpu.fill(phantom, 0), InvariantError);
  EXPECT_THROW(gpu.fill_normal(half, Philox(1, 0, 0, Purpose::weights)), InvariantError);
  EXPECT_THROW(gpu.update(MomentumStep{}, x, x, {y}), InvariantError);
  EXPECT_THROW(gpu.update(AdamStep{}, x, x, {x, y}), InvariantError);
  EXPECT_THROW(gpu.norm2(half), InvariantError);
  EXPECT_THROW(gpu.upload(x, std::vector<float>(9)), InvariantError);
}

}  // namespace
}  // namespace trigram::device_test
