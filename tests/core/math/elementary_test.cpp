#include "core/math/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trigram::test::elementary_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Elementary, ExpAgreesWithTheLibraryTo2Ulp) {
  double worst = 0;
  for (double x = -87.3; x < 88.7; x += 0.00137) {
    const auto argument = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(argument));
    const auto rounded = static_cast<float>(exact);
    const double ulp = std::nextafter(rounded, std::numeric_limits<float>::infinity()) - rounded;
    worst = std::max(worst, std::abs(exp_portable(argument) - exact) / ulp);
  }
  EXPECT_LT(worst, 2);
  EXPECT_EQ(exp_portable(0), 1);
}

TEST(Elementary, ExpOutOfRange) {
  EXPECT_EQ(exp_portable(-100), 0);
  EXPECT_EQ(exp_portable(-std::numeric_limits<float>::infinity()), 0);
  EXPECT_EQ(exp_portable(89), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(exp_portable(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Elementary, SqrtAgreesWithTheLibraryTo2Ulp) {
  for (double x = 1e-6; x <= 2; x *= 1.0437)
    ASSERT_NEAR(sqrt_portable(x), std::sqrt(x), 4.5e-16 * std::sqrt(x)) << x;
  for (const double n : {1.0, 2.0, 4.0, 16.0, 64.0}) EXPECT_EQ(sqrt_portable(1 / n / n), 1 / n);
}

TEST(Elementary, LogAgreesWithTheLibrary) {
  for (double x = 1e-310; x < 1e308; x *= 1.0437) {
    ASSERT_NEAR(log_portable(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(log_portable(1), 0);
  EXPECT_EQ(log_portable(0), -kInfinity);
  EXPECT_EQ(log_portable(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(log_portable(-1)));
  EXPECT_TRUE(std::isnan(log_portable(std::nan(""))));
}

TEST(Elementary, CosineAgreesWithTheLibrary) {
  for (double x = 0; x <= 1; x += 1.0 / 1024) {
    ASSERT_NEAR(cos_pi_portable(x), std::cos(M_PI * x), 1e-15) << x;
  }
  EXPECT_EQ(cos_pi_portable(0), 1);
  EXPECT_EQ(cos_pi_portable(1), -1);
}

}  // namespace
}  // namespace trigram::test::elementary_test
