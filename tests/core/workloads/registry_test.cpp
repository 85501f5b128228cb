#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files.h"
#include "core/workloads/registry.h"
#include "tests/support/config_errors.h"

namespace trigram::registry_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const Json& j) {
  return test::config_error_text([&] { resolve_workload(j, "/workload", "/base"); });
}

TEST(WorkloadRegistry, DefaultsAreWrittenOut) {
  const Json j = resolve_workload("fashion_mnist", "/workload", "/base");
  EXPECT_EQ(j, Json::parse(R"({"name": "fashion_mnist", "model": "mlp", "hidden": [64],
      "batch": 32, "data": "/usr/share/datasets/fashion-mnist", "values": true})"));
  EXPECT_EQ(resolve_workload(j, "/workload", "/other"), j);  // resolving is idempotent
  const Json cnn = {{"name", "fashion_mnist"}, {"model", "cnn"}};
  EXPECT_EQ(resolve_workload(cnn, "", "/")["hidden"], Json::array());
  const Json one = {{"name", "fashion_mnist"}, {"hidden", 32}};
  EXPECT_EQ(resolve_workload(one, "", "/")["hidden"], Json::array({32}));
}

TEST(WorkloadRegistry, RelativePathsAreTakenFromTheBase) {
  const Json profile = {{"name", "profile"}, {"path", "/base/my/net.csv"}};
  EXPECT_EQ(resolve_workload("profile:my/net.csv", "", "/base"), profile);
  EXPECT_EQ(resolve_workload({{"name", "profile:x/../my/net.csv"}}, "", "/base"), profile);
  EXPECT_EQ(resolve_workload("profile:/base/my/net.csv", "", "/elsewhere"), profile);
  const Json j = {{"name", "fashion_mnist"}, {"data", "images"}, {"priced_as", "profile:p.json"}};
  EXPECT_EQ(resolve_workload(j, "", "/base")["data"], "/base/images");
  EXPECT_EQ(resolve_workload(j, "", "/base")["priced_as"], "profile:/base/p.json");
}

TEST(WorkloadRegistry, BadOptionsAreNamed) {
  EXPECT_THAT(error_of("fashion_mnst"), HasSubstr("did you mean \"fashion_mnist\""));
  EXPECT_THAT(error_of("profile:"), HasSubstr("/workload"));
  EXPECT_THAT(error_of("profile"), HasSubstr("/workload/path: missing"));
  EXPECT_THAT(error_of(3), HasSubstr("/workload"));
  EXPECT_THAT(error_of({{"name", "fashion_mnist"}, {"priced_as", "bert_larg"}}),
              HasSubstr("did you mean \"bert_large\""));
  EXPECT_THAT(error_of({{"name", "fashion_mnist"}, {"hidden", {16, 0}}}),
              HasSubstr("/workload/hidden/1"));
  EXPECT_THAT(error_of({{"name", "fashion_mnist"}, {"batch", 0}}), HasSubstr("/workload/batch"));
  EXPECT_THAT(error_of({{"name", "vgg16"}, {"batches", 1}}), HasSubstr("/workload/batches"));
  EXPECT_THAT(error_of({{"name", "quadratic"}, {"dimension", 3}, {"tensors", 4}}),
              HasSubstr("/workload/tensors: expected at most the dimension, 3, not 4"));
}

TEST(WorkloadRegistry, UnreadableProfilesAreReportedAtTheirPointer) {
  const auto error = [](const Json& j) {
    return test::config_error_text(
        [&] { make_workload_factory(resolve_workload(j, "/workload", "/base"), "/workload"); });
  };
  EXPECT_THAT(error("profile:none.csv"), StartsWith("/workload: "));
  EXPECT_THAT(error({{"name", "quadratic"}, {"priced_as", "profile:none.csv"}}),
              StartsWith("/workload/priced_as: "));
}

TEST(WorkloadRegistry, SchemaHasEveryWorkloadAndThePathForm) {
  const std::string schema = workload_schema().dump();
  for (const WorkloadEntry& entry : workloads()) EXPECT_THAT(schema, HasSubstr(entry.name));
  EXPECT_THAT(schema, HasSubstr("^profile:.+"));
}

TEST(DataDir, InstalledDataLiesBesideTheExecutable) {
  const auto prefix = std::filesystem::path(::testing::TempDir()) /
                      ("trigram_prefix_" + std::to_string(::getpid()));
  const auto share = prefix / "share" / "trigram";
  EXPECT_NE(data_dir_of(prefix / "bin" / "trigram"), share);  // it is the source tree
  std::filesystem::create_directories(share / "configs");
  EXPECT_EQ(data_dir_of(prefix / "bin" / "trigram"), share);
  std::filesystem::remove_all(prefix);
}

TEST(DataDir, TheEnvironmentTakesPrecedenceOverTheSourceTree) {
  EXPECT_TRUE(std::filesystem::exists(data_dir() / "configs" / "profiles" / "vgg16.csv"));
  ::setenv("TRIGRAM_DATA_DIR", "/somewhere", 1);
  EXPECT_EQ(data_dir(), "/somewhere");
  ::unsetenv("TRIGRAM_DATA_DIR");
}

}  // namespace
}  // namespace trigram::registry_test
