#include "experiments/config/plan_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/files.h"
#include "tests/experiments/config_error_of.h"

namespace trigram::plan_json_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProfile = "tensor,numel,forward_s,backward_s\na,1000,0.001,0.002\n";

class PlanInJson : public testing::Test {
 protected:
  PlanInJson() { fs::create_directories(folder_); }
  ~PlanInJson() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  Plan plan(const Json& workload) const {
    const Json experiment = {{"runtime", "threads"},
                             {"cluster", {{"nodes", 2}}},
                             {"algorithm", "gradient_allreduce"},
                             {"workload", workload},
                             {"optimizer", {{"name", "sgd"}, {"lr", 0.1}}},
                             {"steps", 4},
                             {"sweep", {{"/seed", {1, 2}}, {"/steps", {3, 5}}}}};
    return make_plan(write("mine.json", experiment.dump()), {});
  }

  const FieldTable<Experiment> fields_ = experiment_fields("elsewhere");  // costly

 private:
  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("plan_json_{}", getpid());
};

TEST_F(PlanInJson, HasTheSameRuns) {
  write("one.csv", kProfile);
  for (const Json& workload : {Json("quadratic"), Json("vgg16"), Json("profile:one.csv")}) {
    const Plan planned = plan(workload);
    const Plan received = plan_from_json(Json::parse(to_json(planned).dump()));
    EXPECT_EQ(received.name, planned.name);
    ASSERT_EQ(received.runs.size(), 4u);
    for (std::size_t i = 0; i < received.runs.size(); ++i) {
      const PlannedRun &copy = received.runs[i], &original = planned.runs[i];
      EXPECT_EQ(copy.id, original.id);
      EXPECT_EQ(copy.coordinates, original.coordinates);
      EXPECT_EQ(fields_.dump(copy.experiment), original.resolved);
      EXPECT_EQ(copy.workload, received.runs[0].workload) << "it is loaded once";
    }
  }
}

TEST_F(PlanInJson, HasTheSameRunsForTheConfigurationsOfTheProject) {
  std::size_t plans = 0;
  for (const auto& entry : fs::directory_iterator(data_dir() / "configs")) {
    Plan planned;
    try {
      planned = make_plan(entry.path(), {}, {.world = "threads"});
    } catch (const ConfigError&) {
      continue;  // a schema, or an experiment for another world
    }
    ++plans;
    const Plan received = plan_from_json(to_json(planned));
    ASSERT_EQ(received.runs.size(), planned.runs.size()) << entry.path();
    for (std::size_t i = 0; i < planned.runs.size(); ++i)
      EXPECT_EQ(fields_.dump(received.runs[i].experiment), planned.runs[i].resolved)
          << entry.path();
  }
  EXPECT_GT(plans, 5u);
}

TEST_F(PlanInJson, RefusesAnInputFileThatIsMissingOrDiffers) {
  const fs::path profile = write("one.csv", kProfile);
  const Json json = to_json(plan("profile:one.csv"));
  const auto error = [&json] { return error_of([&] { plan_from_json(json); }); };
  EXPECT_EQ(error(), "");
  write("one.csv", std::string(kProfile) + "b,10,0,0\n");
  EXPECT_EQ(error(), profile.string() +
                         ": has another content than on rank 0; expected the same "
                         "content on all ranks");
  fs::remove(profile);
  EXPECT_EQ(error(), profile.string() + ": cannot be read; expected the file that rank 0 has read");
}

}  // namespace
}  // namespace trigram::plan_json_test
