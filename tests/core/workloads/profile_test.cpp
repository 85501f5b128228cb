#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/workloads/profile.h"
#include "core/workloads/registry.h"
#include "tests/support/config_errors.h"
#include "tests/support/lone_rank.h"

namespace trigram::profile_test {
namespace {

using test::LoneRank;
using ::testing::HasSubstr;

Profile built_in(const std::string& name) { return load_profile(profile_file(name), "/workload"); }

/// A file that is deleted at the end of the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content)
      : path_(std::filesystem::path(::testing::TempDir()) /
              (std::to_string(::getpid()) + "_" + name)) {
    std::ofstream(path_) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string error_of(const std::string& name, const std::string& content) {
  TemporaryFile file(name, content);
  const std::string text = test::config_error_text([&] { load_profile(file.path(), "/workload"); });
  EXPECT_THAT(text, ::testing::StartsWith("/workload: " + file.path().string())) << content;
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\n")));
  return text;
}

/// The running mean and variance of 26,560 channels: 64 channels of the stem and, for each stage
/// with B blocks of width w, B (w + w + 4w) channels plus 4w of the shortcut.
TEST(BuiltInProfile, Resnet50KeepsItsBatchStatistics) {
  std::size_t channels = 64;
  for (const auto& [blocks, width] : {std::pair{3u, 64u}, {4u, 128u}, {6u, 256u}, {3u, 512u}})
    channels += blocks * 6 * width + 4 * width;
  EXPECT_EQ(channels, 26'560u);
  EXPECT_EQ(built_in("resnet50").buffer_bytes, 2 * 4 * channels);
  for (const char* none : {"vgg16", "bert_large", "bert_base", "transformer_base", "gpt2"})
    EXPECT_EQ(built_in(none).buffer_bytes, 0u) << none;
}

TEST(Profile, GivesItsBuffersInBytes) {
  const std::string rows = "tensor,numel,forward_s,backward_s\nw,1,0,0\n";
  const TemporaryFile csv("buffers.csv", "# buffers: 2KiB\n" + rows);
  EXPECT_EQ(load_profile(csv.path(), "").buffer_bytes, 2048u);
  const TemporaryFile json("buffers.json",
                           R"({"buffers": "2KiB",
          "tensors": [{"tensor": "w", "numel": 1, "forward_s": 0, "backward_s": 0}]})");
  EXPECT_EQ(load_profile(json.path(), "").buffer_bytes, 2048u);
  EXPECT_THAT(error_of("bare.csv", "# buffers: 2048\n" + rows), HasSubstr("line 1: buffers: "));
}

TEST(BuiltInProfile, Vgg16HasThePublishedShapeAndStepTime) {
  const Profile p = built_in("vgg16");
  EXPECT_EQ(p.tensors.size(), 32u);
  EXPECT_EQ(p.numel(), 138'357'544u);
  EXPECT_EQ(p.batch, 32u);
  EXPECT_EQ(p.measured_on.name, "V100");
  EXPECT_NEAR(p.forward_s() + p.backward_s(), 0.1396, 1e-9);
  EXPECT_NEAR(p.backward_s() / p.forward_s(), 438.6 / 233.9, 1e-3);  // as PipeDream measured
  EXPECT_EQ(p.tensors[26].numel, 102'760'448u);                      // fc6
  EXPECT_FALSE(p.sources.empty());
  EXPECT_FALSE(p.assumed.empty());
}

TEST(Profile, MayGiveFlops) {
  const std::string header = "tensor,numel,forward_s,backward_s,forward_flops,backward_flops\n";
  TemporaryFile file("flops.csv", header + "a,10,1,2,40,80\nb,5,1,2,0,0\n");
  const Profile p = load_profile(file.path(), "/workload");
  EXPECT_TRUE(p.has_flops());
  EXPECT_EQ(p.tensors[0].forward_flops, 40);
  EXPECT_EQ(p.tensors[0].backward_flops, 80);
  EXPECT_THAT(
      error_of("flops.csv", header + "a,10,1,2\n"),
      HasSubstr("line 2: expected the cells tensor,numel,forward_s,backward_s,forward_flops"));
  EXPECT_THAT(error_of("flops.csv", header + "a,10,1,2,4e9,1\n"),
              HasSubstr("line 2: expected forward_flops, an integer that is not negative"));
  const std::string row = R"({"tensor": "T", "numel": 1, "forward_s": 1, "backward_s": 1)";
  EXPECT_THAT(error_of("flops.json", R"({"tensors": [)" + row + "}, " +
                                         R"({"tensor": "b", "numel": 1, "forward_s": 1,)" +
                                         R"( "backward_s": 1, "forward_flops": 2}]})"),
              HasSubstr("expected forward_flops and backward_flops of all tensors or of none"));
}

TEST(BuiltInProfile, MostGradientBytesOfVgg16AreReadyEarly) {
  const Profile p = built_in("vgg16");
  double seconds = 0, elements = 0;
  for (auto row = p.tensors.rbegin(); row != p.tensors.rend(); ++row) {
    seconds += row->backward_s;
    elements += static_cast<double>(row->numel);
    if (row->numel == 102'760'448u) break;
  }
  EXPECT_NEAR(seconds / p.backward_s(), 0.013, 0.001);
  EXPECT_NEAR(elements / static_cast<double>(p.numel()), 0.89, 0.005);
}

TEST(BuiltInProfile, BertLargeHasThePublishedShapeAndStepTime) {
  const Profile p = built_in("bert_large");
  EXPECT_EQ(p.tensors.size(), 391u);
  EXPECT_EQ(p.numel(), 334'094'338u);
  EXPECT_EQ(p.batch, 6u);
  EXPECT_NEAR(p.forward_s() + p.backward_s(), 0.53, 1e-9);
  EXPECT_NEAR(p.backward_s(), 1.578 * p.forward_s(), 5e-4);
  std::size_t blocks = 0;
  for (const ProfileTensor& row : p.tensors)
    if (row.tensor.starts_with("encoder.")) blocks += row.numel;
  EXPECT_EQ(blocks, 302'309'376u);  // 24 (12 h^2 + 13 h), h = 1024
  EXPECT_FALSE(p.assumed.empty());
}

TEST(ProfileFile, CsvAndJsonMeanTheSame) {
  TemporaryFile csv("a.csv",
                    "# name: tiny\r\n# batch: 4\n# forward_s: 3\n# source: here\n\n"
                    "tensor,numel,forward_s,backward_s\na, 10, 1, 2e0\nb,5,2.0,0\n");
  TemporaryFile json("a.json", R"({"name": "tiny", "batch": 4, "forward_s": 3,
      "sources": ["here"], "tensors": [
      {"tensor": "a", "numel": 10, "forward_s": 1, "backward_s": 2},
      {"tensor": "b", "numel": 5, "forward_s": 2, "backward_s": 0}]})");
  for (const auto& path : {csv.path(), json.path()}) {
    const Profile p = load_profile(path, "");
    EXPECT_EQ(p.name, "tiny");
    EXPECT_EQ(p.batch, 4u);
    EXPECT_THAT(p.sources, ::testing::ElementsAre("here"));
    ASSERT_EQ(p.tensors.size(), 2u);
    EXPECT_EQ(p.tensors[0].numel, 10u);
    EXPECT_EQ(p.tensors[0].backward_s, 2);
    EXPECT_EQ(p.tensors[1].tensor, "b");
    EXPECT_EQ(p.forward_s(), 3);
  }
}

TEST(ProfileFile, ErrorsNameFileLineAndExpectation) {
  const std::string header = "tensor,numel,forward_s,backward_s\n";
  EXPECT_THAT(error_of("b.csv", "tensor,numel\n"), HasSubstr("line 1: expected the header"));
  EXPECT_THAT(error_of("b.csv", header + "a,1,0\n"),
              HasSubstr("line 2: expected the cells tensor,"));
  EXPECT_THAT(error_of("b.csv", header + "a,1,0,0,0\n"),
              HasSubstr("line 2: expected the cells tensor,"));
  EXPECT_THAT(error_of("b.csv", header + "\na,-1,0,0\n"), HasSubstr("line 3: expected numel"));
  EXPECT_THAT(error_of("b.csv", header + "a,1.5,0,0\n"), HasSubstr("positive integer"));
  EXPECT_THAT(error_of("b.csv", header + "a,1,-2,0\n"), HasSubstr("expected forward_s"));
  EXPECT_THAT(error_of("b.csv", header + "a,1,0,nan\n"), HasSubstr("expected backward_s"));
  EXPECT_THAT(error_of("b.csv", "# batch: none\n" + header), HasSubstr("line 1: expected batch"));
  EXPECT_THAT(error_of("b.csv", header + "a,1,0,0\na,1,0,0\n"), HasSubstr("\"a\" occurs twice"));
  EXPECT_THAT(error_of("b.csv", header), HasSubstr("at least one tensor"));
  EXPECT_THAT(error_of("b.csv", "# forward_s: 2\n" + header + "a,1,1,0\n"),
              HasSubstr("sum to the stated 2"));
  EXPECT_THAT(error_of("b.csv", ""), HasSubstr("at least one tensor"));
  EXPECT_THAT(error_of("b.json", "{\n\"tensors\": [}"), HasSubstr("2:13: expected JSON"));
  EXPECT_THAT(error_of("b.json", R"({"tensors": [{"tensor": "a", "numel": 0}]})"),
              HasSubstr("/tensors/0/numel"));
  EXPECT_THAT(error_of("b.json", R"({"tensor": []})"), HasSubstr("did you mean \"tensors\""));
}

TEST(ProfileFile, MissingFileIsABadInput) {
  EXPECT_THROW(load_profile("/nonexistent.csv", "/w"), ConfigError);
  EXPECT_THROW(load_profile(::testing::TempDir(), "/w"), ConfigError);  // a folder
}

TEST(ProfileWorkload, TakesTheStepTimeAndReportsBucketsInOrder) {
  NullDevice device;
  LoneRank rank(device);
  const auto factory = make_workload_factory(resolve_workload("vgg16", "/w", "/"), "/w");
  EXPECT_FALSE(factory->has_values());
  ASSERT_EQ(factory->input_files().size(), 1u);
  const auto workload = factory->make(rank.ctx, 1);
  EXPECT_EQ(workload->weights().numel(), 138'357'544u);
  EXPECT_TRUE(workload->weights().is_phantom());
  workload->bucketize(10u << 20);
  workload->forward(rank.ctx);
  EXPECT_EQ(rank.stream.computations, 1);
  const double forward_s = rank.stream.computed_s;
  std::vector<int> order;
  std::vector<double> fraction;
  workload->backward(rank.ctx, [&](Bucket& b) {
    order.push_back(b.index);
    fraction.push_back((rank.stream.computed_s - forward_s) / (0.1396 - forward_s));
  });
  EXPECT_NEAR(rank.stream.computed_s, 0.1396, 1e-9);
  ASSERT_EQ(order.size(), workload->buckets().size());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int>(i));
  // fc8 closes the first bucket, fc7 the second, and fc6 the third, after 1.3 % of the backward
  // pass.
  EXPECT_EQ(workload->buckets()[0].grad.numel(), 1000u + 4'096'000u);
  EXPECT_EQ(workload->buckets()[1].grad.numel(), 4096u + 16'777'216u);
  EXPECT_EQ(workload->buckets()[2].grad.numel(), 4096u + 102'760'448u);
  EXPECT_NEAR(fraction[2], 0.013, 0.001);
  EXPECT_EQ(workload->batch(), 32u);
  EXPECT_TRUE(std::isnan(workload->loss()));
}

TEST(ProfileWorkload, EmbeddingsOfBertLargeComeLast) {
  NullDevice device;
  LoneRank rank(device);
  const auto workload =
      make_workload_factory(resolve_workload("bert_large", "", "/"), "")->make(rank.ctx, 1);
  workload->bucketize(0);
  ASSERT_EQ(workload->buckets().size(), 391u);
  EXPECT_EQ(workload->buckets().front().grad.numel(), 2u);          // bias of the head
  EXPECT_EQ(workload->buckets().back().grad.numel(), 31'254'528u);  // 30522 x 1024
}

}  // namespace
}  // namespace trigram::profile_test
