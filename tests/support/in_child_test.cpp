#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "tests/support/in_child.h"

namespace trigram::test::in_child_test {
namespace {

using namespace std::chrono_literals;

// The tests below start the child before they intercept failures. Otherwise the child would also
// intercept them.
std::function<std::string()> without_result(std::function<void()> body) {
  return [body = std::move(body)] {
    body();
    return std::string();
  };
}

/// Finishes the child. Appends its failures and skips to `results`, instead of reporting them.
void finish_intercepted(Child& child, testing::TestPartResultArray& results) {
  testing::ScopedFakeTestPartResultReporter reporter(
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
  child.finish();
}

TEST(InChild, returns_bytes) {
  const std::string large(1 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(bytes_from_child([&] { return large; }), large);
  EXPECT_EQ(values_from_child<double>([] {
              return std::vector<double>{0.1, -2};
            }),
            (std::vector<double>{0.1, -2}));
}

TEST(InChild, does_not_change_this_process) {
  int value = 0;
  in_child([&] { value = 1; });
  EXPECT_EQ(value, 0);
}

TEST(InChild, reports_failed_expectations) {
  Child child(without_result([] { EXPECT_EQ(1, 2) << "said in the child"; }));
  EXPECT_NONFATAL_FAILURE(child.finish(), "said in the child");
}

TEST(InChild, reports_every_failure) {
  Child child(without_result([] {
    EXPECT_TRUE(false) << "first";
    ASSERT_TRUE(false) << "second";
    EXPECT_TRUE(false) << "never reached";
  }));
  testing::TestPartResultArray failures;
  finish_intercepted(child, failures);
  ASSERT_EQ(failures.size(), 2);
  EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("first"), std::string::npos);
  EXPECT_NE(std::string(failures.GetTestPartResult(1).message()).find("second"), std::string::npos);
  EXPECT_NE(std::string(failures.GetTestPartResult(0).file_name()).find("in_child_test"),
            std::string::npos);
}

TEST(InChild, fails_when_the_child_throws) {
  EXPECT_NONFATAL_FAILURE(in_child([] { throw std::runtime_error("thrown in the child"); }),
                          "thrown in the child");
}

TEST(InChild, fails_when_the_child_crashes) {
  EXPECT_NONFATAL_FAILURE(in_child([] { std::raise(SIGKILL); }), "died of signal 9");
}

TEST(InChild, fails_when_the_child_exits_early) {
  EXPECT_NONFATAL_FAILURE(in_child([] { std::_Exit(0); }), "exited with code 0");
}

TEST(InChild, fails_when_the_child_hangs) {
  EXPECT_NONFATAL_FAILURE(in_child([] { std::this_thread::sleep_for(1h); }, 200ms),
                          "killed after 200 ms");
}

TEST(InChild, reports_a_skip) {
  Child child(without_result([] { GTEST_SKIP() << "not here"; }));
  testing::TestPartResultArray results;
  finish_intercepted(child, results);
  ASSERT_EQ(results.size(), 1);
  EXPECT_TRUE(results.GetTestPartResult(0).skipped());
}

}  // namespace
}  // namespace trigram::test::in_child_test
