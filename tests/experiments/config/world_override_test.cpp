#include "experiments/config/world_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_error.h"

namespace trigram::world_override_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SweepPoint> taken(Json config, const Json& world) {
  WorldOverride taking(world, "--world");
  taking.file(config);
  auto points = expand_sweep(std::move(config), ".");
  taking.points(points);
  return points;
}

std::vector<Json> runtimes(const Json& config, const Json& world) {
  std::vector<Json> found;
  for (const SweepPoint& point : taken(config, world)) found.push_back(point.config["runtime"]);
  return found;
}

const Json kShaped = {{"name", "threads"}, {"shaping", "cluster"}};

TEST(WorldOverride, GivesAFileOfAnotherWorldThisOne) {
  EXPECT_THAT(runtimes({{"runtime", "sim"}}, kShaped), ElementsAre(kShaped));
  EXPECT_THAT(runtimes(Json::object(), kShaped), ElementsAre(kShaped));
  EXPECT_THAT(runtimes({{"runtime", kShaped}}, "sim"), ElementsAre(Json{{"name", "sim"}}));
}

TEST(WorldOverride, LeavesTheFileWhatItSaysOfThisWorld) {
  const Json bare = {{"name", "threads"}, {"shaping", "none"}};
  EXPECT_THAT(runtimes({{"runtime", bare}}, kShaped), ElementsAre(bare));
  EXPECT_THAT(runtimes({{"runtime", "threads"}}, kShaped), ElementsAre(kShaped));
}

TEST(WorldOverride, LeavesOutWhatIsSweptOfOtherWorlds) {
  const Json config = {{"runtime", "sim"},
                       {"sweep",
                        {{"/runtime/fidelity", {"message", "fluid"}},
                         {"/runtime/watchdog", {"10s", "20s"}},
                         {"/steps", {1, 2}}}}};
  const auto points = taken(config, "threads");
  ASSERT_EQ(points.size(), 4u);  // watchdogs and steps
  for (const SweepPoint& point : points) {
    EXPECT_FALSE(point.config["runtime"].contains("fidelity"));
    EXPECT_EQ(point.coordinates.size(), 2u);
    EXPECT_EQ(point.config["runtime"]["watchdog"], point.coordinates["/runtime/watchdog"]);
  }
}

TEST(WorldOverride, KeepsOfASweepOverWorldsWhatIsOfThisOne) {
  const Json fast = {{"name", "sim"}, {"fidelity", "fluid"}};
  const Json config = {{"runtime", "sim"}, {"sweep", {{"/runtime", {"sim", fast, kShaped}}}}};
  EXPECT_THAT(runtimes(config, "sim"), ElementsAre(Json{{"name", "sim"}}, fast));
  EXPECT_THAT(runtimes(config, kShaped), ElementsAre(kShaped));
  EXPECT_THAT(runtimes(config, "mpi"), ElementsAre(Json{{"name", "mpi"}}));
}

TEST(WorldOverride, RefusesWhatIsWrongInAnyWorld) {
  const auto error_of = [](const Json& config, const Json& world) -> std::string {
    try {
      taken(config, world);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of({{"runtime", "sim"}, {"sweep", {{"/runtime/fidelitty", {1}}}}}, "threads"),
              HasSubstr("/runtime/fidelitty: unknown"));
  EXPECT_THAT(error_of({{"runtime", {{"name", "sim"}, {"fidelitty", 1}}}}, "threads"),
              HasSubstr("/runtime/fidelitty: unknown"));
  EXPECT_THAT(error_of(Json::object(), "thraeds"), HasSubstr("--world: unknown world"));
  EXPECT_THAT(error_of(Json::object(), {{"name", "sim"}, {"shaping", "cluster"}}),
              HasSubstr("--world/shaping: unknown"));
}

}  // namespace
}  // namespace trigram::world_override_test
