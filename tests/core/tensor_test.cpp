#include "core/tensor.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "core/check.h"

namespace trigram::tensor_test {
namespace {

/// A tensor of the floats 0, 1, 2, ...
Tensor counting(std::size_t numel, std::size_t priced_numel) {
  std::shared_ptr<std::byte> storage(new std::byte[numel * 4 + 1],
                                     std::default_delete<std::byte[]>());
  Tensor x(std::move(storage), numel, DType::f32, priced_numel);
  std::iota(x.floats().begin(), x.floats().end(), 0.0f);
  return x;
}

TEST(Tensor, HasSizesInElementsAndBytes) {
  const Tensor x = Tensor::phantom(10, DType::bf16, 300);
  EXPECT_EQ(x.numel(), 10u);
  EXPECT_EQ(x.nbytes(), 20u);
  EXPECT_EQ(x.priced_numel(), 300u);
  EXPECT_EQ(x.priced_nbytes(), 600u);
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::u8), 1u);
}

TEST(Tensor, IsAPhantomOnlyIfItHasNoStorage) {
  EXPECT_TRUE(Tensor().is_phantom());
  EXPECT_TRUE(Tensor::phantom(3, DType::f32, 3).is_phantom());
  EXPECT_TRUE(Tensor::phantom(3, DType::f32, 3).floats().empty());
  EXPECT_FALSE(counting(3, 3).is_phantom());
  EXPECT_FALSE(counting(0, 0).is_phantom());
}

TEST(Tensor, CopiesShareStorage) {
  const Tensor x = counting(4, 4);
  const Tensor copy = x;
  copy.floats()[2] = 9;
  EXPECT_EQ(x.floats()[2], 9.0f);
}

TEST(Tensor, SlicesAreViewsThatKeepTheStorageAlive) {
  Tensor view;
  {
    const Tensor x = counting(10, 10);
    view = x.slice(3, 4);
    x.floats()[3] = -1;
  }
  ASSERT_EQ(view.numel(), 4u);
  EXPECT_EQ(view.priced_numel(), 4u);
  EXPECT_EQ(view.floats()[0], -1.0f);
  EXPECT_EQ(view.floats()[3], 6.0f);
}

TEST(Tensor, SlicesOfPhantomsArePhantoms) {
  const Tensor view = Tensor::phantom(10, DType::u8, 10).slice(3, 4);
  EXPECT_TRUE(view.is_phantom());
  EXPECT_EQ(view.numel(), 4u);
  EXPECT_EQ(view.dtype(), DType::u8);
}

TEST(Tensor, SlicesStayInside) {
  EXPECT_NO_THROW(counting(10, 10).slice(10, 0));
  EXPECT_THROW(counting(10, 10).slice(8, 3), InvariantError);
  EXPECT_THROW(counting(10, 10).slice(11, 0), InvariantError);
}

TEST(Tensor, APricedTensorIsSlicedOnlyWithAPrice) {
  const Tensor x = counting(10, 1000);
  EXPECT_THROW(x.slice(0, 5), InvariantError);
  EXPECT_EQ(x.slice(0, 5, 123).priced_numel(), 123u);
}

class Parts : public ::testing::TestWithParam<std::pair<std::size_t, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(Lengths, Parts,
                         ::testing::Values(std::pair{0u, 0u}, std::pair{1u, 1u}, std::pair{3u, 3u},
                                           std::pair{1000u, 1000u}, std::pair{7u, 334094338u},
                                           std::pair{1000u, 3u}, std::pair{0u, 17u}));

TEST_P(Parts, CoverTheTensorWithoutGaps) {
  const auto [numel, priced] = GetParam();
  const Tensor x = counting(numel, priced);
  for (std::size_t parts : {1u, 2u, 3u, 4u, 7u, 8u, 64u}) {
    std::size_t seen = 0, priced_seen = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      const Tensor part = x.part(i, parts);
      for (float value : part.floats()) ASSERT_EQ(value, static_cast<float>(seen++));
      priced_seen += part.priced_numel();
      EXPECT_LE(part.numel(), (numel + parts - 1) / parts);
      EXPECT_GE(part.numel(), numel / parts);
      EXPECT_LE(part.priced_numel(), (priced + parts - 1) / parts);
      EXPECT_GE(part.priced_numel(), priced / parts);
    }
    EXPECT_EQ(seen, numel);
    EXPECT_EQ(priced_seen, priced);
  }
}

TEST_P(Parts, ARangeOfPartsIsTheUnionOfItsParts) {
  const auto [numel, priced] = GetParam();
  const Tensor x = Tensor::phantom(numel, DType::f32, priced);
  constexpr std::size_t kParts = 7;
  for (std::size_t first = 0; first <= kParts; ++first) {
    std::size_t count = 0, priced_count = 0;
    for (std::size_t last = first; last <= kParts; ++last) {
      EXPECT_EQ(x.parts(first, last, kParts).numel(), count);
      EXPECT_EQ(x.parts(first, last, kParts).priced_numel(), priced_count);
      if (last == kParts) break;
      count += x.part(last, kParts).numel();
      priced_count += x.part(last, kParts).priced_numel();
    }
  }
  EXPECT_THROW(x.part(kParts, kParts), InvariantError);
}

}  // namespace
}  // namespace trigram::tensor_test
