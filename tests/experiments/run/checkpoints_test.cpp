#include "experiments/run/checkpoints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/optimizers/registry.h"
#include "experiments/run/run.h"
#include "tests/support/in_child.h"
#include "tests/support/training.h"

namespace trigram::checkpoints_test {
namespace {

namespace fs = std::filesystem;

constexpr long kSteps = 11, kEvery = 3;  // checkpoints after 3, 6 and 9 steps

/// A run that writes all its checkpoints into a temporary folder.
class Checkpointed {
 public:
  explicit Checkpointed(const Json& changes) {
    config_ = {
        {"runtime", "sim"},
        {"cluster",
         {{"nodes", 2},
          {"workers_per_node", 2},
          {"inter", {{"bandwidth", "1Gbps"}, {"latency", "50us"}}},
          {"run_times", {{"kind", "lognormal"}, {"variation", 0.2}}}}},
        {"workload", {{"name", "quadratic"}, {"dimension", 64}, {"tensors", 4}, {"noise", 0.1}}},
        {"algorithm", "gradient_allreduce"},
        {"optimizer", {{"name", "adam"}, {"lr", 0.01}}},
        {"eval_every", 2},
        {"steps", kSteps},
        {"checkpoint", {{"every", kEvery}, {"keep", 100}, {"write_bandwidth", "100MB/s"}}}};
    config_.update(changes);
    if (config_["runtime"] != "sim") config_["checkpoint"].erase("write_bandwidth");
    char name[] = "/tmp/trigram-checkpoints-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Checkpointed() { fs::remove_all(folder_); }
  Checkpointed(const Checkpointed&) = delete;
  Checkpointed& operator=(const Checkpointed&) = delete;

  Json& config() { return config_; }
  const fs::path& folder() const { return folder_; }
  CheckpointFolder checkpoints() const { return CheckpointFolder(folder_); }
  fs::path file(long step, int rank) const {
    return folder_ / fmt::format("step-{:06}/rank-{:04}.bin", step, rank);
  }
  /// The summary of the run. Its lines of metrics.jsonl are in "lines".
  Json run(bool resume, const fs::path& from = {}) const {
    const auto body = [&] {
      const Experiment e = experiment_fields("").parse(config_, "");
      const auto factory = make_workload_factory(e.workload, "/workload");
      Json lines = Json::array();
      Json summary =
          make_run(e, *factory,
                   {[&](const StepRecord& r) { lines.push_back(to_json(r)); }, [](const Json&) {}},
                   {folder_, resume, from});
      summary["lines"] = lines;
      return summary.dump();
    };
    const std::string text = config_["runtime"] == "sim" ? test::bytes_from_child(body) : body();
    return text.empty() ? Json::object() : Json::parse(text);
  }
  /// Removes the checkpoints after `step`, as if the run had been killed before it wrote them.
  void stop_after(long step) const {
    for (const long later : checkpoints().steps())
      if (later > step) fs::remove_all(file(later, 0).parent_path());
  }

 private:
  Json config_;
  fs::path folder_;
};

/// What must not depend on whether the run was stopped.
Json comparable(Json summary) {
  summary.erase("messages_simulated_per_wall_s");
  summary["checkpoint"].erase("resumed");
  summary.erase("warnings");
  return summary;
}

/// A run in simulated time is repeated to the last bit, with all its times.
void expect_same_when_resumed(const Json& changes) {
  const Checkpointed training(changes);
  const Json whole = comparable(training.run(false));
  ASSERT_EQ(whole["lines"].size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(training.checkpoints().steps(), (std::vector<long>{9, 6, 3}));
  for (const long step : {6L, 3L}) {
    training.stop_after(step);
    const Json resumed = training.run(true);
    EXPECT_EQ(resumed["checkpoint"]["resumed"][0]["step"], step);
    EXPECT_EQ(comparable(resumed), whole)
        << Json::diff(whole, comparable(resumed)).dump().substr(0, 2000);
  }
}

class EveryAlgorithm : public ::testing::TestWithParam<test::NamedAlgorithm> {};

TEST_P(EveryAlgorithm, IsResumedInSimulatedTime) {
  expect_same_when_resumed({{"algorithm", GetParam().spec}});
}

/// With more workers and with fewer, half of the way.
TEST_P(EveryAlgorithm, GoesOnWithOtherWorkers) {
  const Checkpointed before(Json{{"algorithm", GetParam().spec}});
  before.run(false);
  before.stop_after(6);
  for (const int nodes : {1, 3}) {
    SCOPED_TRACE(nodes);
    Checkpointed after(Json{{"algorithm", GetParam().spec}});
    after.config()["cluster"]["nodes"] = nodes;
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.workers_per_node = 2;
    if (!test::fits(GetParam(), cluster)) continue;
    Json summary = after.run(false, before.folder());
    EXPECT_EQ(summary["steps"], kSteps - 6);
    EXPECT_EQ(summary["lines"][0]["step"], 6);
    EXPECT_TRUE(summary["eval_loss"].is_number());
    EXPECT_EQ(summary["checkpoint"]["resumed"][0]["step"], 6);
    EXPECT_NE(summary["warnings"].dump().find("after 6 steps of"), std::string::npos);
    Json in_turn = after.run(true);  // from its own checkpoint, after which it writes none
    EXPECT_EQ(in_turn["checkpoint"]["resumed"].back()["step"], 9);
    for (Json* json : {&summary, &in_turn}) json->at("checkpoint").erase("last");
    EXPECT_EQ(comparable(in_turn), comparable(summary));
  }
}

INSTANTIATE_TEST_SUITE_P(Sim, EveryAlgorithm, ::testing::ValuesIn(test::every_algorithm()),
                         test::TestName());

class DeterministicAlgorithm : public ::testing::TestWithParam<test::NamedAlgorithm> {};

TEST_P(DeterministicAlgorithm, IsResumedInRealTime) {
  Checkpointed training(Json{{"runtime", "threads"},
                             {"cluster", {{"nodes", 2}, {"workers_per_node", 2}}},
                             {"algorithm", GetParam().spec}});
  const Json whole = training.run(false);
  for (const long step : {6L, 3L}) {
    training.stop_after(step);
    const Json resumed = training.run(true);
    EXPECT_EQ(resumed["checkpoint"]["resumed"][0]["step"], step);
    EXPECT_EQ(resumed["weights_hash"], whole["weights_hash"]);
    EXPECT_EQ(resumed["loss"], whole["loss"]);
    EXPECT_EQ(resumed["lines"].size(), static_cast<std::size_t>(kSteps));
  }
}

/// Pushes of osgp that are in flight arrive before a checkpoint. All others learn what they learn
/// without checkpoints.
TEST_P(DeterministicAlgorithm, LearnsTheSameWithoutCheckpoints) {
  Checkpointed training(Json{{"algorithm", GetParam().spec}});
  const Json with = training.run(false);
  training.config().erase("checkpoint");
  const Json without = training.run(false);
  EXPECT_FALSE(without.contains("checkpoint"));
  if (GetParam().name.starts_with("osgp")) EXPECT_NE(with["weights_hash"], without["weights_hash"]);
  else EXPECT_EQ(with["weights_hash"], without["weights_hash"]);
}

INSTANTIATE_TEST_SUITE_P(Threads, DeterministicAlgorithm,
                         ::testing::ValuesIn(test::deterministic_algorithms()), test::TestName());

TEST(Checkpoints, KeepTheStateOfEveryOptimizer) {
  for (const OptimizerEntry& entry : optimizers()) {
    if (entry.needs == OptimizerEntry::Needs::shapes) continue;
    SCOPED_TRACE(entry.name);
    Json optimizer = {{"name", entry.name}, {"lr", 0.01}, {"decay", "cosine"}};
    if (entry.name == "sgd") optimizer["momentum"] = 0.9;
    expect_same_when_resumed({{"optimizer", optimizer}, {"clip_norm", 0.5}, {"micro_batches", 2}});
  }
}

TEST(Checkpoints, KeepTheStateOfAPhantom) {
  for (const char* algorithm : {"diloco", "wagma", "powersgd"})
    expect_same_when_resumed({{"workload", "vgg16"}, {"algorithm", algorithm}});
}

TEST(Checkpoints, OnlyTheLatestAreKept) {
  Checkpointed training(Json::object());
  training.config()["checkpoint"]["keep"] = 2;
  training.run(false);
  EXPECT_EQ(training.checkpoints().steps(), (std::vector<long>{9, 6}));
}

/// All workers have the same objective without noise, so that their number does not matter.
TEST(Checkpoints, FewerWorkersGoOnWithTheSameModel) {
  for (const char* algorithm : {"gradient_allreduce", "diloco", "slowmo", "onebit_adam"}) {
    SCOPED_TRACE(algorithm);
    Json spec = {{"name", algorithm}};
    if (spec["name"] == "onebit_adam") spec["warmup_steps"] = 100;
    else if (spec["name"] != "gradient_allreduce") spec["sync_every"] = 4;
    const Json changes = {{"algorithm", spec},
                          {"workload", {{"name", "quadratic"}, {"dimension", 64}}},
                          {"optimizer", {{"name", "adam"}, {"lr", 0.01}, {"decay", "linear"}}}};
    const Checkpointed before(changes);
    const Json whole = before.run(false);
    before.stop_after(6);
    Checkpointed after(changes);
    after.config()["cluster"]["nodes"] = 1;
    const Json rest = after.run(false, before.folder());
    EXPECT_EQ(rest["eval_loss"], whole["eval_loss"]);
    EXPECT_LT(rest["time_s"], whole["time_s"]);
  }
}

/// A state that is not restored changes the result, so that the tests above can fail.
TEST(Checkpoints, AllStateMatters) {
  const Checkpointed training(Json{{"algorithm", {{"name", "diloco"}, {"sync_every", 2}}}});
  const Json whole = training.run(false);
  const CheckpointFolder checkpoints = training.checkpoints();
  const Json about = checkpoints.about(3);
  for (const std::string name :
       {"algorithm/momentum", "algorithm/start", "optimizer/0 1", "rank/weights", "batches"}) {
    SCOPED_TRACE(name);
    training.stop_after(3);
    std::vector<SavedState> saved;
    for (int rank = 0; rank < 4; ++rank) saved.push_back(checkpoints.read(3, rank));
    for (int rank = 0; rank < 4; ++rank) {
      SavedState state = saved[static_cast<std::size_t>(rank)];
      ASSERT_GT(state.at(name).bytes.size(), 0u);
      std::ranges::fill(state[name].bytes, '\0');
      checkpoints.write(3, rank, state);
    }
    checkpoints.complete(3, 4, about, 100, 0);
    EXPECT_NE(training.run(true)["weights_hash"], whole["weights_hash"]);
    training.stop_after(3);
    for (int rank = 0; rank < 4; ++rank)
      checkpoints.write(3, rank, saved[static_cast<std::size_t>(rank)]);
    checkpoints.complete(3, 4, about, 100, 0);
    EXPECT_EQ(training.run(true)["weights_hash"], whole["weights_hash"]);
  }
}

}  // namespace
}  // namespace trigram::checkpoints_test
