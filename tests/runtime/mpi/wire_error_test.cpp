#include "runtime/mpi/wire_error.h"

#include <gtest/gtest.h>

#include "core/config/config_error.h"

namespace trigram::mpi::wire_error_test {
namespace {

template <class Error>
Error arrived(const Error& error) {
  try {
    std::rethrow_exception(error_from_bytes(error_to_bytes(std::make_exception_ptr(error))));
  } catch (const Error& e) {
    return e;
  }
}

TEST(WireError, BadInputStaysBadInput) {
  for (const ConfigError& sent : {ConfigError("/runtime", "too few: GPUs"), ConfigError("", "x")}) {
    const auto got = arrived(sent);
    EXPECT_EQ(got.pointer(), sent.pointer());
    EXPECT_STREQ(got.what(), sent.what());
  }
}

TEST(WireError, WhatIsOutOfRangeStaysSo) {
  EXPECT_STREQ(arrived(std::out_of_range("rank 7")).what(), "rank 7");
}

}  // namespace
}  // namespace trigram::mpi::wire_error_test
