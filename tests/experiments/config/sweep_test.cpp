#include "experiments/config/sweep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "experiments/config/config_file.h"
#include "experiments/config/settings.h"
#include "tests/experiments/config_error_of.h"

namespace trigram::sweep_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Json> configs_of(const Json& config) {
  std::vector<Json> configs;
  for (const SweepPoint& point : expand_sweep(config, ".")) configs.push_back(point.config);
  return configs;
}

TEST(Sweep, AnExperimentWithoutSweepIsOnePoint) {
  const auto points = expand_sweep({{"steps", 3}}, ".");
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].config, Json({{"steps", 3}}));
  EXPECT_EQ(points[0].coordinates, Json::object());
}

TEST(Sweep, FirstPointerVariesSlowest) {
  EXPECT_THAT(configs_of({{"sweep", {{"/a", {1, 2}}, {"/b", {3, 4}}}}}),
              ElementsAre(Json{{"a", 1}, {"b", 3}}, Json{{"a", 1}, {"b", 4}},
                          Json{{"a", 2}, {"b", 3}}, Json{{"a", 2}, {"b", 4}}));
}

TEST(Sweep, ZippedListsAdvanceTogether) {
  EXPECT_THAT(configs_of({{"zip", {{"/a", {1, 2}}, {"/b", {3, 4}}}}}),
              ElementsAre(Json{{"a", 1}, {"b", 3}}, Json{{"a", 2}, {"b", 4}}));
}

TEST(Sweep, ZipMayBeAListOfRows) {
  const Json config = {{"b", 0}, {"zip", {Json{{"/a", 1}, {"/b", 3}}, Json{{"/a", 2}}}}};
  EXPECT_THAT(configs_of(config), ElementsAre(Json{{"a", 1}, {"b", 3}}, Json{{"a", 2}, {"b", 0}}));
  EXPECT_THAT(error_of([] {
                expand_sweep({{"zip", {Json{{"/a", 1}}, 2}}}, ".");
              }),
              HasSubstr("/zip/1: expected an object of pointers to values"));
  EXPECT_THAT(error_of([] { expand_sweep({{"zip", Json::array()}}, "."); }), HasSubstr("/zip: "));
}

TEST(Sweep, ParentIsSetBeforeItsChild) {
  const Json config = {{"sweep", {{"/algorithm/tau", {7}}, {"/algorithm", {"x"}}}}};
  EXPECT_THAT(configs_of(config),
              ElementsAre(Json{{"algorithm", Json{{"name", "x"}, {"tau", 7}}}}));
}

TEST(Sweep, SeedListIsASweep) {
  const auto points = expand_sweep({{"seed", {4, 5}}}, ".");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].config["seed"], 5);
  EXPECT_EQ(points[1].coordinates, Json({{"/seed", 5}}));
}

TEST(Sweep, APointerInSweepAndZipIsRefused) {
  const Json config = {{"sweep", {{"/a", {1}}}}, {"zip", {{"/a", {1}}}}};
  EXPECT_THAT(error_of([&] { expand_sweep(config, "."); }), HasSubstr("/zip/~1a: is swept twice"));
  const Json rows = {{"sweep", {{"/a", {1}}}}, {"zip", {Json{{"/b", 1}}, Json{{"/a", 1}}}}};
  EXPECT_THAT(error_of([&] { expand_sweep(rows, "."); }), HasSubstr("/zip/1/~1a: is swept twice"));
}

TEST(Settings, ReachIntoListsAndComponents) {
  Json config = {{"algorithm", "x"}, {"list", {Json{{"factor", 1}}, 2}}};
  apply_settings(config, {"/algorithm/tau=3", "/list/0/factor=5", "/deep/down=text"}, ".");
  EXPECT_EQ(config, Json({{"algorithm", Json{{"name", "x"}, {"tau", 3}}},
                          {"list", {Json{{"factor", 5}}, 2}},
                          {"deep", {{"down", "text"}}}}));
}

TEST(Settings, IndexBeyondTheListIsRefused) {
  Json config = {{"list", {1, 2}}};
  EXPECT_THAT(error_of([&] { apply_settings(config, {"/list/2=0"}, "."); }),
              HasSubstr("expected an index below 2"));
}

TEST(Settings, ReplaceASweptList) {
  Json config = {{"sweep", {{"/a", {1, 2}}, {"/b", {3, 4}}}}};
  apply_settings(config, {"/a=9"}, ".");
  EXPECT_THAT(configs_of(config), ElementsAre(Json{{"a", 9}, {"b", 3}}, Json{{"a", 9}, {"b", 4}}));
}

TEST(Settings, ReplaceAValueInEveryRow) {
  Json config = {{"zip", {Json{{"/a", 1}, {"/b", 3}}, Json{{"/a", 2}}}}};
  apply_settings(config, {"/b=9"}, ".");
  EXPECT_THAT(configs_of(config), ElementsAre(Json{{"a", 1}, {"b", 9}}, Json{{"a", 2}, {"b", 9}}));
  EXPECT_THAT(error_of([&] { apply_settings(config, {"/a/c=9"}, "."); }),
              HasSubstr("/a is swept, so this would have no effect; set /a itself, or /zip/0/~1a"));
}

TEST(Settings, BelowASweptPointerAreRefused) {
  for (const char* kind : {"sweep", "zip"}) {
    Json config = {{kind, {{"/a", {"x", "y"}}}}};
    EXPECT_THAT(
        error_of([&] { apply_settings(config, {"/a/b=9"}, "."); }),
        HasSubstr(std::string("/a is swept, so this would have no effect; set /a itself, or /") +
                  kind + "/~1a"));
    EXPECT_NO_THROW(apply_settings(config, {"/ab=9"}, "."));
  }
}

class ConfigFile : public testing::Test {
 protected:
  Json read(const std::string& text) {
    const auto path = fmt::format("{}config_file_test.{}.json", testing::TempDir(), getpid());
    std::ofstream(path) << text;
    return read_config_file(path);
  }
};

TEST_F(ConfigFile, MayContainComments) {
  EXPECT_EQ(read("// one\n{\"a\": /* two */ 1}"), Json({{"a", 1}}));
}

TEST_F(ConfigFile, ErrorsNameLineAndColumn) {
  EXPECT_THAT(error_of([&] { read("{\n  \"a\": 1,\n  b\n}"); }), HasSubstr(".json:3:3: "));
  EXPECT_THAT(error_of([&] { read("x"); }), HasSubstr(".json:1:1: "));
}

TEST_F(ConfigFile, ErrorsSayWhyAFileCannotBeRead) {
  EXPECT_THAT(error_of([&] { read(""); }), HasSubstr(".json:1:1: expected JSON"));
  EXPECT_THAT(error_of([&] { read_config_file(testing::TempDir()); }),
              HasSubstr("expected a readable file: Is a directory"));
}

TEST_F(ConfigFile, KeysMustBeUniqueWithinAnObject) {
  EXPECT_EQ(read(R"({"a": {"k": 1}, "b": {"k": 2}, "k": 3})")["k"], 3);
  EXPECT_THAT(error_of([&] { read(R"({"a": {"k": 1, "k": 2}})"); }), HasSubstr("\"k\""));
}

}  // namespace
}  // namespace trigram::sweep_test
