#include "cuda/net/slices.h"

#include <gtest/gtest.h>

namespace trigram::net {
namespace {

std::size_t count_of(std::size_t bytes, std::size_t streams) {
  const std::size_t slice = slice_bytes(bytes, streams);
  return slice == 0 ? 0 : (bytes + slice - 1) / slice;
}

TEST(Slices, ShortMessagesStayWhole) {
  for (const std::size_t bytes : {0, 1, 1000, 64 << 10}) EXPECT_EQ(slice_bytes(bytes, 8), bytes);
}

TEST(Slices, WhatNcclSendsIsSplit) {
  EXPECT_EQ(count_of(128 << 10, 8), 4u);
  EXPECT_EQ(count_of(512 << 10, 8), 8u);
  EXPECT_EQ(count_of(1 << 20, 8), 8u);
  EXPECT_EQ(count_of(1 << 20, 4), 4u);
}

TEST(Slices, AreEqualAndBounded) {
  for (const std::size_t streams : {1, 2, 3, 7, 8, 64})
    for (std::size_t bytes = (64 << 10) + 1; bytes < (300u << 20); bytes = bytes * 3 / 2 + 7) {
      const std::size_t slice = slice_bytes(bytes, streams);
      EXPECT_LE(slice, std::size_t{256} << 10);
      EXPECT_GT(slice, std::size_t{16} << 10);
      // The last slice lacks less than one byte per slice.
      EXPECT_LT(count_of(bytes, streams) * slice - bytes, count_of(bytes, streams));
    }
}

}  // namespace
}  // namespace trigram::net
