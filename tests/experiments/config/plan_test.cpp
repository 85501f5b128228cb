#include "experiments/config/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace trigram::plan_test {
namespace {

/// The processor time of planning a sweep over `runs` seeds.
double planning_s(const char* workload, int runs) {
  Json experiment = {{"runtime", "threads"},
                     {"cluster", {{"nodes", 2}}},
                     {"algorithm", "gradient_allreduce"},
                     {"workload", workload},
                     {"steps", 1}};
  for (int seed = 1; seed <= runs; ++seed) experiment["sweep"]["/seed"].push_back(seed);
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("plan_test_{}.json", getpid());
  std::ofstream(path) << experiment;
  const std::clock_t begin = std::clock();
  const Plan plan = make_plan(path, {});
  const std::clock_t end = std::clock();
  std::filesystem::remove(path);
  EXPECT_EQ(plan.runs.size(), static_cast<std::size_t>(runs));
  return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
}

TEST(Planning, TakesAboutAsLongForModelsAsForProfiles) {
  constexpr int kRuns = 1000;
  planning_s("vgg16", 1);  // tables that are built once
  EXPECT_LT(planning_s("quadratic", kRuns), 4 * planning_s("vgg16", kRuns));
}

}  // namespace
}  // namespace trigram::plan_test
