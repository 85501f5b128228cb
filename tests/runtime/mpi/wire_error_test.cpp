#include "runtime/mpi/wire_error.h"

#include <gtest/gtest.h>

#include "core/config/config_error.h"

namespace trigram::mpi::wire_error_test {
namespace {

template <class Error>
Error round_trip(const Error& error) {
  try {
    std::rethrow_exception(error_from_bytes(error_to_bytes(std::make_exception_ptr(error))));
  } catch (const Error& e) {
    return e;
  }
}

TEST(WireError, KeepsConfigErrors) {
  for (const ConfigError& sent : {ConfigError("/runtime", "too few: GPUs"), ConfigError("", "x")}) {
    const auto received = round_trip(sent);
    EXPECT_EQ(received.pointer(), sent.pointer());
    EXPECT_STREQ(received.what(), sent.what());
  }
}

TEST(WireError, KeepsOutOfRangeErrors) {
  EXPECT_STREQ(round_trip(std::out_of_range("rank 7")).what(), "rank 7");
}

}  // namespace
}  // namespace trigram::mpi::wire_error_test
