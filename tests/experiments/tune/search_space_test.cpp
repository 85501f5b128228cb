#include "experiments/tune/search_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace trigram::search_space_test {
namespace {

SearchSpace parsed(const char* text) { return search_space().parse(Json::parse(text), "/space"); }

std::string error_of_space(const char* text) {
  try {
    parsed(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST(SearchSpace, PowersOfTwo) {
  const SearchSpace space = parsed(R"({"/a": {"powers_of_two": ["64KiB", "1MiB"]},
                                       "/b": {"powers_of_two": [2, 16]}})");
  EXPECT_EQ(Json(space.dimensions[0].values),
            Json::parse(R"(["64KiB","128KiB","256KiB","512KiB","1MiB"])"));
  EXPECT_EQ(Json(space.dimensions[1].values), Json::parse("[2,4,8,16]"));
  EXPECT_EQ(space.size(), 20u);
  EXPECT_EQ(space.point_at({0, 0.999}), Json::parse(R"({"/a": "64KiB", "/b": 16})"));
}

TEST(SearchSpace, EachValueHasACellOfEqualSize) {
  const SearchSpace space = parsed(R"({"/n": {"integer": [-1, 3]}})");
  std::map<Json, int> counts;
  for (int i = 0; i < 1000; ++i) ++counts[space.point_at({i / 1000.0 + 0.0005})["/n"]];
  ASSERT_EQ(counts.size(), 5u);
  for (const auto& [value, count] : counts) EXPECT_EQ(count, 200) << value;
  EXPECT_EQ(space.point_at({1.0})["/n"], 3);
}

TEST(SearchSpace, RealsMayHaveALogarithmicScale) {
  const SearchSpace space =
      parsed(R"({"/a": {"real": [0.1, 10], "log": true}, "/b": {"real": [-2, 2]}})");
  const Json middle = space.point_at({0.5, 0.5});
  EXPECT_DOUBLE_EQ(middle["/a"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(middle["/b"].get<double>(), 0);
  EXPECT_EQ(space.size(), std::nullopt);
}

TEST(SearchSpace, PointsAndPositionsCorrespond) {
  const SearchSpace space = parsed(R"({"/a": {"values": ["x", {"name": "y"}, true]},
      "/b": {"integer": [1, 7]}, "/c": {"real": [0.5, 8], "log": true}})");
  for (const Position& at : std::vector<Position>{{0.1, 0.9, 0.3}, {0.99, 0, 1}, {0.5, 0.5, 0}}) {
    const Position snapped = space.snapped(at);
    EXPECT_EQ(space.point_at(snapped), space.point_at(at));
    const Position again = space.position_of(space.point_at(at), "");
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(again[i], snapped[i], 1e-15);
  }
}

TEST(SearchSpace, AGridHasDifferentPointsAndEvenLevels) {
  const SearchSpace space = parsed(
      R"({"/a": {"integer": [1, 100]}, "/b": {"values": [true, false]}, "/c": {"real": [0, 1]}})");
  const std::vector<Position> grid = space.grid(50);
  EXPECT_EQ(grid.size(), 50u);  // 5 x 2 x 5
  EXPECT_EQ(std::set<Position>(grid.begin(), grid.end()).size(), 50u);
  EXPECT_EQ(parsed(R"({"/a": {"integer": [1, 3]}, "/b": {"integer": [1, 4]}})").grid(500).size(),
            12u);
}

TEST(SearchSpace, MistakesSayWhatWasExpectedAndWhere) {
  using testing::HasSubstr;
  EXPECT_THAT(error_of_space("{}"), HasSubstr("/space: no point in the space"));
  EXPECT_THAT(error_of_space(R"({"/a": {"values": []}})"),
              HasSubstr("/space/~1a/values: no point in the space"));
  EXPECT_THAT(error_of_space(R"({"/a": {"integer": [5, 2]}})"),
              HasSubstr("/space/~1a/integer: no point in the space: 5 is above 2"));
  EXPECT_THAT(error_of_space(R"({"/a": {"real": [0, 2], "log": true}})"),
              HasSubstr("/space/~1a/real/0"));
  EXPECT_THAT(error_of_space(R"({"/a": {"powers_of_two": ["64KiB", "100KiB"]}})"),
              HasSubstr("/space/~1a/powers_of_two/1: expected a power of two, not \"100KiB\""));
  EXPECT_THAT(error_of_space(R"({"a": {"integer": [1, 2]}})"),
              HasSubstr("expected a JSON pointer"));
  EXPECT_THAT(error_of_space(R"({"/a": {"integers": [1, 2]}})"), HasSubstr("expected one of"));
  EXPECT_THAT(error_of_space(R"({"/a": {"integer": [1]}})"), HasSubstr("[low, high]"));
}

TEST(SearchSpace, APointOutsideTheSpaceIsRefused) {
  const SearchSpace space = parsed(R"({"/a": {"integer": [1, 7]}})");
  EXPECT_THROW(space.position_of({{"/a", 8}}, ""), ConfigError);
  EXPECT_THROW(space.position_of({{"/b", 1}}, ""), ConfigError);
  EXPECT_THROW(space.position_of(Json::array({1}), ""), ConfigError);
}

}  // namespace
}  // namespace trigram::search_space_test
