#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "core/check.h"
#include "experiments/results/exchanges.h"
#include "experiments/results/manifest.h"
#include "experiments/results/run_folder.h"
#include "experiments/results/stored_run.h"
#include "experiments/run/rank_report.h"
#include "experiments/run/recorded_run.h"
#include "experiments/run/summary.h"
#include "experiments/sha256.h"
#include "experiments/tables/comparison_table.h"
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

TEST_F(Results, NothingIsThereBeforeItIsPublished) {
  {
    RunFolder folder(root_, "id");
    std::ofstream(folder.path() / "metrics.jsonl") << "{}\n";
    EXPECT_EQ(state(), StoredRun::missing);
  }
  EXPECT_TRUE(fs::is_empty(root_)) << "what is not published is removed";
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

TEST_F(Results, AnEarlierResultIsReplacedAsAWhole) {
  publish("now", true);
  std::ofstream(root_ / "id" / "old") << "";
  publish("now", false);
  EXPECT_FALSE(fs::exists(root_ / "id" / "old"));
  EXPECT_FALSE(fs::exists(root_ / "id" / "DONE"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

TEST_F(Results, LeftoversOfDeadProcessesAreRemovedAndNoOthers) {
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

TEST_F(Results, LeftoversOfAProcessThatNobodyHasReapedAreGoneToo) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const fs::path folder = root_ / fmt::format("b.tmp.{}.{}", host.data(), child);
  EXPECT_FALSE(is_leftover(folder));
  kill(child, SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(is_leftover(folder));
  waitpid(child, nullptr, 0);
}

TEST_F(Results, AProcessWithoutOutcomeHasFailed) {
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

/// A run on two nodes of `steps` steps, in which messages were sent.
Json experiment_with(const Json& algorithm, long steps = 10) {
  return {{"algorithm", algorithm},
          {"cluster", {{"nodes", 2}, {"workers_per_node", 1}}},
          {"steps", steps}};
}

Json manifest(const char* algorithm, const char* bandwidth, int seed, double step_s) {
  return {{"experiment", experiment_with({{"name", algorithm}})},
          {"sweep",
           {{"/algorithm", algorithm}, {"/cluster/inter/bandwidth", bandwidth}, {"/seed", seed}}},
          {"summary", {{"step_s", step_s}, {"accuracy", nullptr}, {"messages_inter", 4}}}};
}

TEST(ComparisonTable, MarksTheFastestOfEachSettingAndJoinsSeeds) {
  const std::string table =
      comparison_table({manifest("slow", "1Gbps", 1, 0.002), manifest("slow", "1Gbps", 2, 0.004),
                        manifest("fast", "1Gbps", 1, 0.001), manifest("slow", "9Gbps", 1, 0.001),
                        manifest("fast", "9Gbps", 1, 0.002)});
  EXPECT_EQ(table,
            "bandwidth  algorithm    step [ms]\n"
            "1Gbps      slow       3.00 ± 1.41\n"
            "1Gbps      fast            1.00 *\n"
            "9Gbps      slow            1.00 *\n"
            "9Gbps      fast              2.00\n"
            "* shortest step at this setting\n");
}

TEST(ComparisonTable, JoinsDrawsOfBandwidths) {
  const auto with_draw = [](int seed, double step_s) {
    Json drawn = manifest("slow", "1Gbps", 1, step_s);
    drawn["sweep"]["/cluster/jitter_seed"] = seed;
    return drawn;
  };
  EXPECT_EQ(comparison_table({with_draw(1, 0.002), with_draw(2, 0.004)}),
            "bandwidth  algorithm    step [ms]\n"
            "1Gbps      slow       3.00 ± 1.41\n");
}

TEST(ComparisonTable, TellsModesOfAnAlgorithmApart) {
  auto mode = [](const char* name, double step_s) {
    const Json algorithm = {{"name", "decentralized"}, {"mode", name}};
    return Json{{"experiment", experiment_with(algorithm)},
                {"sweep", {{"/algorithm/mode", name}}},
                {"summary", {{"step_s", step_s}, {"messages_inter", 4}}}};
  };
  EXPECT_EQ(comparison_table({mode("ring", 0.002), mode("all", 0.001)}),
            "algorithm           step [ms]\n"
            "decentralized/ring       2.00\n"
            "decentralized/all      1.00 *\n"
            "* shortest step at this setting\n");
}

TEST(ComparisonTable, NamesOptionsOnlyWhereNamesAreEqual) {
  auto bucket = [](const char* name, const char* size, double step_s) {
    const Json algorithm = {{"name", name}, {"bucket", size}};
    return Json{{"experiment", experiment_with(algorithm)},
                {"sweep", {{"/algorithm", algorithm}}},
                {"summary", {{"step_s", step_s}, {"messages_inter", 4}}}};
  };
  EXPECT_EQ(comparison_table(
                {bucket("a", "0B", 0.002), bucket("a", "1kB", 0.001), bucket("b", "1kB", 0.003)}),
            "algorithm     step [ms]\n"
            "a bucket=0B        2.00\n"
            "a bucket=1kB     1.00 *\n"
            "b                  3.00\n"
            "* shortest step at this setting\n");
}

TEST(ComparisonTable, ExplainsAStarWhereThereIsOne) {
  Json first = manifest("first", "1Gbps", 1, 0.001), second = manifest("second", "1Gbps", 1, 0.002);
  for (Json* one : {&first, &second}) {
    (*one)["summary"]["step_s"] = nullptr;
    (*one)["summary"]["loss"] = 0.5;
  }
  EXPECT_EQ(comparison_table({first, second}),
            "bandwidth  algorithm   loss\n"
            "1Gbps      first      0.500\n"
            "1Gbps      second     0.500\n");
}

/// The time to an accuracy is known only as exactly as the evaluations allow.
TEST(ComparisonTable, ShowsWhenAnAccuracyWasReachedAsAnInterval) {
  Json bound = manifest("bound", "1Gbps", 1, 0.001), fine = manifest("fine", "1Gbps", 1, 0.002);
  bound["summary"]["target"] = {{"time_s", 4.0}, {"after_s", 0.0}};
  fine["summary"]["target"] = {{"time_s", 5.0}, {"after_s", 4.5}};
  EXPECT_THAT(comparison_table({bound, fine}),
              testing::AllOf(testing::HasSubstr("1.00 *             ≤4.00 ~\n"),
                             testing::HasSubstr("2.00           4.50–5.00\n"),
                             testing::HasSubstr("\n~ coarse: fewer than five evaluations")));
}

/// A run without communication does not win, although its step is the shortest.
TEST(ComparisonTable, MarksRunsThatDoNotShowWhatTheirAlgorithmCosts) {
  Json silent = manifest("silent", "1Gbps", 1, 0.001), brief = manifest("brief", "1Gbps", 1, 0.002);
  silent["summary"]["messages_inter"] = 0;
  brief["summary"]["cycle_steps"] = 11;
  EXPECT_EQ(comparison_table({silent, brief, manifest("whole", "1Gbps", 1, 0.003)}),
            "bandwidth  algorithm  step [ms]\n"
            "1Gbps      silent        1.00 !\n"
            "1Gbps      brief         2.00 !\n"
            "1Gbps      whole         3.00 *\n"
            "* shortest step at this setting\n"
            "! brief is not compared: it made 10 of the 11 steps from one exchange to the next\n"
            "! silent is not compared: it sent nothing between its workers in 10 steps\n");
}

/// `trigram table` prints the same notes.
TEST(ComparisonTable, SaysWhatTimesOfThisMachineAreWorth) {
  Json many = manifest("many", "1Gbps", 1, 0.001), few = manifest("few", "1Gbps", 1, 0.002);
  for (Json* run : {&many, &few}) (*run)["time_kind"] = "wall";
  many["oversubscribed"] = true;
  EXPECT_EQ(comparison_table({many, few}),
            "bandwidth  algorithm  step [ms]\n"
            "1Gbps      many †        1.00 *\n"
            "1Gbps      few             2.00\n"
            "* shortest step at this setting\n"
            "† more ranks than cores: its times say little about a real cluster\n"
            "times are wall-clock times of this machine\n");
}

TEST(Manifest, HasWarningsThatOnlyShowInTheRun) {
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

TEST(ComparisonTable, SaysWhatRunsSayOfTheirLength) {
  Json cut = manifest("cut", "1Gbps", 1, 0.002), part = manifest("part", "1Gbps", 1, 0.003);
  cut["summary"]["shortfall"] = {{"why", "made 7 of 8 steps"}, {"of", "rates"}};
  part["summary"]["shortfall"] = nullptr;
  part["summary"]["rates"] = {{"over", "4 of 7 steps: whole cycles of 4"}};
  for (Json* run : {&cut, &part}) (*run)["summary"]["samples_per_s"] = 400.0;
  cut["summary"]["paces"] = {{"slowest", {{"samples_per_s", 0.4}}},
                             {"fastest", {{"samples_per_s", 199.6}}}};
  EXPECT_EQ(
      comparison_table({cut, part}),
      "bandwidth  algorithm  step [ms]         samples/s\n"
      "1Gbps      cut           2.00 !  400 (0.4 to 200)\n"
      "1Gbps      part          3.00 *               400\n"
      "* shortest step at this setting\n"
      "! cut is not compared: it made 7 of 8 steps\n"
      "(a to b): samples/s of the slowest and of the fastest worker, who do not wait for each "
      "other; the sum is of all\n"
      "means over 4 of 7 steps: whole cycles of 4: part\n");
  EXPECT_EQ(missing_exchanges(cut), "made 7 of 8 steps");
  EXPECT_EQ(missing_exchanges(cut, Compared::accuracy), "") << "it was there when it says";
  cut["summary"]["shortfall"]["of"] = "run";
  EXPECT_EQ(missing_exchanges(cut, Compared::accuracy), "made 7 of 8 steps");
}

TEST(Labels, NameSystemsByTheirFiles) {
  const Json run = {{"experiment", experiment_with({{"name", "gradient_allreduce"}})},
                    {"sweep", {{"/algorithm", "../systems/pytorch_ddp.json"}}},
                    {"summary", {{"step_s", 0.001}, {"messages_inter", 4}}}};
  EXPECT_EQ(comparison_table({run}), "algorithm    step [ms]\npytorch_ddp       1.00\n");
  EXPECT_EQ(describe(run["sweep"]), "algorithm=pytorch_ddp");
}

TEST(Labels, NameModesOfAnAlgorithm) {
  EXPECT_EQ(describe({{"/algorithm", {{"name", "decentralized"}, {"mode", "ring"}}}, {"/seed", 1}}),
            "algorithm=decentralized/ring, seed=1");
}

/// The reports are in the form in which they arrive from another process.
TEST(RankReports, SayWhoOnlyServes) {
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
  EXPECT_DOUBLE_EQ(lower_bound(cluster, arrived, ranks), 2.25) << "one rank's time begins later";
  cluster.inter.shaping.rate_Bps = 500;
  cluster.inter.shaping.depth_bytes = 10000;
  cluster.inter.shaping.initial_bytes = 0;
  ranks[1].began_s = 0.5;
  EXPECT_DOUBLE_EQ(lower_bound(cluster, arrived, ranks), 0.5 + (2000 - 500) / 500.0)
      << "credit of a second: half before the first step, half during the latency";
}

}  // namespace
}  // namespace trigram::results_test
