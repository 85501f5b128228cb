#include "core/config/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace trigram::units_test {
namespace {

using ::testing::HasSubstr;

std::string complaint(std::string_view text, Dimension dimension) {
  try {
    parse_quantity(text, dimension);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Units, AreScaledToTheBaseUnit) {
  EXPECT_EQ(parse_quantity("25Gbps", Dimension::bandwidth), 25e9 / 8);
  EXPECT_EQ(parse_quantity("1GB/s", Dimension::bandwidth), 1e9);
  EXPECT_EQ(parse_quantity("10MiB", Dimension::bytes), 10.0 * 1024 * 1024);
  EXPECT_EQ(parse_quantity("10MB", Dimension::bytes), 1e7);
  EXPECT_EQ(parse_quantity("2min", Dimension::duration), 120);
  EXPECT_EQ(parse_quantity("15.7TFLOP/s", Dimension::flop_rate), 15.7e12);
}

TEST(Units, SmallUnitsGiveTheNearestDouble) {
  EXPECT_EQ(parse_quantity("50us", Dimension::duration), 50e-6);
  EXPECT_EQ(parse_quantity("3ms", Dimension::duration), 3e-3);
  EXPECT_EQ(parse_quantity("7ns", Dimension::duration), 7e-9);
}

TEST(Units, AllowSpacesAndExponents) {
  EXPECT_EQ(parse_quantity("50 us", Dimension::duration), 50e-6);
  EXPECT_EQ(parse_quantity("1e3B", Dimension::bytes), 1000);
  EXPECT_EQ(parse_quantity("1.5e-3s", Dimension::duration), 1.5e-3);
  EXPECT_EQ(parse_quantity("-2s", Dimension::duration), -2);
}

TEST(Units, ABareNumberIsAnError) {
  EXPECT_THAT(complaint("25", Dimension::bandwidth), HasSubstr("\"25\" lacks a unit"));
  EXPECT_THAT(complaint("25", Dimension::bandwidth), HasSubstr("25Gbps"));
}

TEST(Units, UnknownUnitsAndUnitsOfOtherDimensionsAreErrors) {
  EXPECT_THAT(complaint("25Gbpz", Dimension::bandwidth),
              AllOf(HasSubstr("unknown unit \"Gbpz\""), HasSubstr("did you mean \"Gbps\"?")));
  EXPECT_THAT(complaint("25s", Dimension::bytes), HasSubstr("expected one of GiB, MiB"));
  EXPECT_THAT(complaint("25gbps", Dimension::bandwidth), HasSubstr("unknown unit"));
  EXPECT_THAT(complaint("1e300s", Dimension::duration),
              HasSubstr("\"1e300s\" is out of range; expected at most \"1e+18s\""));
  EXPECT_THAT(complaint("1e300Gbps", Dimension::bandwidth), HasSubstr("at most \"8e+09Gbps\""));
}

TEST(Units, TextThatIsNotANumberIsAnError) {
  for (const char* text : {"s", "", "1.2.3s", "--1s", "1e999s", "infs", "nans", "one s"})
    EXPECT_NE(complaint(text, Dimension::duration), "") << text;
}

class RoundTrip : public ::testing::TestWithParam<Dimension> {};
INSTANTIATE_TEST_SUITE_P(Dimensions, RoundTrip,
                         ::testing::Values(Dimension::duration, Dimension::bandwidth,
                                           Dimension::bytes, Dimension::flop_rate));

TEST_P(RoundTrip, TextParsesBackToTheSameValue) {
  for (double mantissa : {1.0, 1.5, 3.0, 7.77, 1.0 / 3})
    for (int exponent = -12; exponent < 18; ++exponent) {
      const double value = mantissa * std::pow(10.0, exponent);
      const std::string text = format_quantity(value, GetParam());
      EXPECT_EQ(parse_quantity(text, GetParam()), value) << text;
    }
  EXPECT_EQ(parse_quantity(format_quantity(0, GetParam()), GetParam()), 0);
}

TEST(Units, AreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(format_quantity(25e9 / 8, Dimension::bandwidth), "25Gbps");
  EXPECT_EQ(format_quantity(50e-6, Dimension::duration), "50us");
  EXPECT_EQ(format_quantity(10.0 * 1024 * 1024, Dimension::bytes), "10MiB");
  EXPECT_EQ(format_quantity(30, Dimension::duration), "30s");
}

}  // namespace
}  // namespace trigram::units_test
