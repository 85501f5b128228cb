#include "experiments/config/world_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/config_error_of.h"

namespace trigram::world_override_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SweepPoint> retargeted(Json config, const Json& world) {
  WorldOverride world_override(world, "--world");
  world_override.retarget_file(config);
  auto points = expand_sweep(std::move(config), ".");
  world_override.retarget_points(points);
  return points;
}

std::vector<Json> runtimes(const Json& config, const Json& world) {
  std::vector<Json> found;
  for (const SweepPoint& point : retargeted(config, world))
    found.push_back(point.config["runtime"]);
  return found;
}

const Json kShaped = {{"name", "threads"}, {"shaping", "cluster"}};

TEST(WorldOverride, RetargetsAFileForAnotherWorld) {
  EXPECT_THAT(runtimes({{"runtime", "sim"}}, kShaped), ElementsAre(kShaped));
  EXPECT_THAT(runtimes(Json::object(), kShaped), ElementsAre(kShaped));
  EXPECT_THAT(runtimes({{"runtime", kShaped}}, "sim"), ElementsAre(Json{{"name", "sim"}}));
}

TEST(WorldOverride, KeepsTheOptionsOfAFileForThisWorld) {
  const Json bare = {{"name", "threads"}, {"shaping", "none"}};
  EXPECT_THAT(runtimes({{"runtime", bare}}, kShaped), ElementsAre(bare));
  EXPECT_THAT(runtimes({{"runtime", "threads"}}, kShaped), ElementsAre(kShaped));
}

TEST(WorldOverride, LeavesOutSweptOptionsOfOtherWorlds) {
  const Json config = {{"runtime", "sim"},
                       {"sweep",
                        {{"/runtime/fidelity", {"message", "fluid"}},
                         {"/runtime/watchdog", {"10s", "20s"}},
                         {"/steps", {1, 2}}}}};
  const auto points = retargeted(config, "threads");
  ASSERT_EQ(points.size(), 4u);  // watchdogs and steps
  for (const SweepPoint& point : points) {
    EXPECT_FALSE(point.config["runtime"].contains("fidelity"));
    EXPECT_EQ(point.coordinates.size(), 2u);
    EXPECT_EQ(point.config["runtime"]["watchdog"], point.coordinates["/runtime/watchdog"]);
  }
}

TEST(WorldOverride, KeepsThePointsOfThisWorldInASweepOverWorlds) {
  const Json fast = {{"name", "sim"}, {"fidelity", "fluid"}};
  const Json config = {{"runtime", "sim"}, {"sweep", {{"/runtime", {"sim", fast, kShaped}}}}};
  EXPECT_THAT(runtimes(config, "sim"), ElementsAre(Json{{"name", "sim"}}, fast));
  EXPECT_THAT(runtimes(config, kShaped), ElementsAre(kShaped));
  EXPECT_THAT(runtimes(config, "mpi"), ElementsAre(Json{{"name", "mpi"}}));
}

TEST(WorldOverride, RefusesMistakesInAnyWorld) {
  const auto retargeting_error = [](const Json& config, const Json& world) {
    return error_of([&] { retargeted(config, world); });
  };
  EXPECT_THAT(
      retargeting_error({{"runtime", "sim"}, {"sweep", {{"/runtime/fidelitty", {1}}}}}, "threads"),
      HasSubstr("/runtime/fidelitty: unknown"));
  EXPECT_THAT(retargeting_error({{"runtime", {{"name", "sim"}, {"fidelitty", 1}}}}, "threads"),
              HasSubstr("/runtime/fidelitty: unknown"));
  EXPECT_THAT(retargeting_error(Json::object(), "thraeds"), HasSubstr("--world: unknown world"));
  EXPECT_THAT(retargeting_error(Json::object(), {{"name", "sim"}, {"shaping", "cluster"}}),
              HasSubstr("--world/shaping: unknown"));
}

}  // namespace
}  // namespace trigram::world_override_test
