#include "cuda/kernels/elementwise.h"

#include <gtest/gtest.h>

#include "tests/cuda/device_buffer.h"

namespace trigram {
namespace {

template <class T>
void expect_filled(T value) {
  const OwnStream stream;
  for (const std::size_t n : awkward_lengths()) {
    for (const std::size_t offset : {0, 1, 3}) {
      DeviceBuffer<T> x(n, offset);
      cuda::fill(stream, n, x.data(), value);
      EXPECT_EQ(std::vector<T>(n, value), x.values(stream)) << n << " from " << offset;
    }
  }
}

TEST(Elementwise, FillsAnyLengthAnywhereAndNothingElse) {
  expect_filled(1.5f);
  expect_filled(std::uint16_t{0x3C01});
  expect_filled(std::uint8_t{7});
}

}  // namespace
}  // namespace trigram
