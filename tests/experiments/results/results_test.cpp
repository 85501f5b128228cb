#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/check.h"
#include "experiments/results/machine.h"
#include "experiments/results/manifest.h"
#include "experiments/results/run_folder.h"
#include "experiments/results/stored_run.h"
#include "experiments/run/lower_bound_check.h"
#include "experiments/run/rank_report.h"
#include "experiments/run/recorded_run.h"
#include "experiments/run/summary.h"
#include "experiments/sha256.h"
#include "experiments/text/labels.h"

namespace trigram::results_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Results : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }
  const fs::path root_ = fs::path(testing::TempDir()) / fmt::format("results.{}", getpid());

  void publish(const std::string& git, bool done) {
    RunFolder folder(root_, "id");
    folder.publish(
        {{"schema_version", kManifestSchema}, {"git", git}, {"status", done ? "done" : "failed"}},
        done);
  }
  StoredRun::State state() { return read_stored_run(root_ / "id", "now").state; }
};

TEST_F(Results, AreMissingUntilTheyArePublished) {
  {
    RunFolder folder(root_, "id");
    std::ofstream(folder.path() / "metrics.jsonl") << "{}\n";
    EXPECT_EQ(state(), StoredRun::missing);
  }
  EXPECT_TRUE(fs::is_empty(root_)) << "an unpublished folder is removed";
}

TEST_F(Results, StatesOfARun) {
  publish("now", false);
  EXPECT_EQ(state(), StoredRun::failed);
  publish("before", true);
  EXPECT_EQ(state(), StoredRun::stale);
  publish("now", true);
  EXPECT_EQ(state(), StoredRun::done);
  fs::remove(root_ / "id" / "DONE");
  EXPECT_EQ(state(), StoredRun::partial);
}

TEST_F(Results, AnEarlierResultIsReplacedCompletely) {
  publish("now", true);
  std::ofstream(root_ / "id" / "old") << "";
  publish("now", false);
  EXPECT_FALSE(fs::exists(root_ / "id" / "old"));
  EXPECT_FALSE(fs::exists(root_ / "id" / "DONE"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

TEST_F(Results, OnlyLeftoversOfDeadProcessesAreRemoved) {
  const pid_t pid = fork();
  if (pid == 0) {
    new RunFolder(root_, "dead");  // _exit runs no destructor, like kill -9
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  const RunFolder mine(root_, "mine");
  fs::create_directory(root_ / "other.tmp.elsewhere.1");
  for (const auto& entry : fs::directory_iterator(root_))
    EXPECT_EQ(is_leftover(entry.path()), entry.path().filename().string().starts_with("dead"));
  remove_leftovers(root_);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 2);
  EXPECT_TRUE(fs::exists(mine.path()));
  EXPECT_TRUE(fs::exists(root_ / "other.tmp.elsewhere.1"));
}

TEST_F(Results, FoldersOfAZombieAreLeftovers) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const fs::path folder = root_ / fmt::format("b.tmp.{}.{}", host_name(), child);
  EXPECT_FALSE(is_leftover(folder));
  kill(child, SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_leftover(folder));
  waitpid(child, nullptr, 0);
}

TEST_F(Results, AProcessThatWroteNoOutcomeHasFailed) {
  EXPECT_THAT(take_outcome(root_, SIGSEGV).error, HasSubstr("signal 11"));
  EXPECT_THAT(take_outcome(root_, 3 << 8).error, HasSubstr("code 3"));
  std::ofstream(root_ / "outcome.json")
      << R"({"summary": null, "error": "rank 3 waits for 1", "hang": true, "refused": false})";
  const Outcome hang = take_outcome(root_, 124 << 8);
  EXPECT_TRUE(hang.hang);
  EXPECT_EQ(hang.error, "rank 3 waits for 1");
}

// The example of FIPS 180-4.
TEST(Sha256, OfAbc) {
  EXPECT_EQ(Sha256().update("a").update("bc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Manifest, IncludesWarningsOfTheRunAndOfLinks) {
  const Json config = {{"cluster", {{"nodes", 2}}}, {"algorithm", "gradient_allreduce"},
                       {"workload", "quadratic"},   {"runtime", "threads"},
                       {"optimizer", "sgd"},        {"steps", 2}};
  PlannedRun run;
  run.experiment = experiment_fields("").parse(config, "");
  run.warnings = {"planned"};
  const Json links = {{{"link", "between nodes, 0 > 1"}, {"off", 5.67}, {"warning", true}},
                      {{"link", "inside a node, 0 > 1"}, {"off", 0.01}, {"warning", false}}};
  const Outcome outcome{.summary = {{"steps", 2}, {"warnings", {"seen"}}}};
  const Json manifest = make_manifest(run, outcome, {}, links, {});
  EXPECT_EQ(manifest["warnings"],
            Json({"planned", "seen",
                  "network not as described: the emulated link between nodes, 0 > 1 is +567 % off "
                  "what the cluster says"}));
  EXPECT_EQ(manifest["summary"], Json({{"steps", 2}}));
  EXPECT_EQ(manifest["links"], links);
}

TEST(WhyNotCompared, DependsOnTheComparedQuantity) {
  Json cut = {{"summary", {{"shortfall", {{"why", "made 7 of 8 steps"}, {"of", "rates"}}}}}};
  EXPECT_EQ(why_not_compared(cut), "made 7 of 8 steps");
  EXPECT_EQ(why_not_compared(cut, Compared::time_to_target), "") << "the time to a target is valid";
  cut["summary"]["shortfall"]["of"] = "run";
  EXPECT_EQ(why_not_compared(cut, Compared::time_to_target), "made 7 of 8 steps");
  cut["summary"]["shortfall"] = nullptr;
  EXPECT_EQ(why_not_compared(cut), "");
}

TEST(Labels, NameSystemsByTheirFiles) {
  const Json run = {{"experiment", {{"algorithm", {{"name", "gradient_allreduce"}}}}},
                    {"sweep", {{"/algorithm", "../systems/pytorch_ddp.json"}}}};
  EXPECT_EQ(algorithm_label(run), "pytorch_ddp");
  EXPECT_EQ(describe(run["sweep"]), "algorithm=pytorch_ddp");
}

TEST(Labels, NameModesOfAnAlgorithm) {
  EXPECT_EQ(describe({{"/algorithm", {{"name", "decentralized"}, {"mode", "ring"}}}, {"/seed", 1}}),
            "algorithm=decentralized/ring, seed=1");
}

/// The reports are in the form in which they arrive from another process.
TEST(RankReports, NameRanksThatOnlyServe) {
  for (const bool trains : {true, false}) {
    RankReport report;
    report.steps.resize(2);
    report.steps[1].trains = trains;
    report.result.trains = trains;
    const RankReport read = report_from_bytes(to_bytes(report));
    EXPECT_TRUE(read.steps.at(0).trains);
    EXPECT_EQ(read.steps.at(1).trains, trains);
    EXPECT_EQ(read.result.trains, trains);
  }
}

TEST(Summary, ATimeBelowItsLowerBoundIsAnError) {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.inter = {1000, 0.5};
  const std::vector<Counters> arrived(2, {.bytes_inter = 2000, .messages_inter = 1});
  std::vector<RankResult> ranks(2);
  const double bound_s = lower_bound(cluster, arrived, ranks);
  EXPECT_DOUBLE_EQ(bound_s, 2.5);
  check_lower_bound(2.5, bound_s);
  EXPECT_THROW(check_lower_bound(2.4, bound_s), InvariantError);

  ranks[0].began_s = 0.5, ranks[1].began_s = 0.75;
  EXPECT_DOUBLE_EQ(lower_bound(cluster, arrived, ranks), 2.25) << "one rank begins later";
  cluster.inter.shaping.rate_Bps = 500;
  cluster.inter.shaping.depth_bytes = 10000;
  cluster.inter.shaping.initial_bytes = 0;
  ranks[1].began_s = 0.5;
  EXPECT_DOUBLE_EQ(lower_bound(cluster, arrived, ranks), 0.5 + (2000 - 500) / 500.0)
      << "credit of a second: half before the first step, half during the latency";
}

}  // namespace
}  // namespace trigram::results_test
