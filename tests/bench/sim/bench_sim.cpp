// The cost of a simulated message, through the whole stack and in a hand-written program on S4U.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "tests/bench/sim/ring_speed.h"
#include "tests/support/training.h"

namespace {

using namespace trigram::test;
using trigram::Json;
using trigram::SimOptions;

/// Prints a target, such as "at least 8", and whether it is met, which is true if `ratio` >= 1.
void print_target(const char* relation, double ratio, double target) {
  fmt::print("  {} {}: {}", relation, target, ratio >= 1 ? "met" : "missed");
}

void print(const std::string& title, const Comparison& c) {
  constexpr double kLeast = 0.85;
  fmt::print("{:<34} {:>10.0f} {:>12.2f} {:>12.2f} {:>8.2f} {:>14.9g}", title,
             c.pairs[0].full_stack.messages, 1e6 * c.hand_written_cost_s(),
             1e6 * c.full_stack_cost_s(), c.speed_ratio(), c.pairs[0].full_stack.simulated_s);
  print_target("speed at least", c.speed_ratio() / kLeast, kLeast);
  fmt::print("\n");
  std::fflush(stdout);
}

/// Simulates `few` and then `many` steps, and returns the number of steps per second of wall clock,
/// without the set-up.
double steps_per_second(Training training, long few, long many, Trained& trained) {
  training.reports_steps = true;
  const auto wall_s = [&](long steps) {
    training.steps = steps;
    const auto start = std::chrono::steady_clock::now();
    trained = train(training);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double start_s = wall_s(few), all_s = wall_s(many);
  return static_cast<double>(many - few) / (all_s - start_s);
}

/// Simulates steps of BERT-Large on many phantom workers. Prints and returns the number of steps
/// per second. Unless `least` is 0, prints whether it is at least `least`.
double print_bert(const Json& algorithm, int nodes, int workers, SimOptions::Fidelity fidelity,
                  double least = 0) {
  Training training;
  training.algorithm = algorithm;
  training.workload = "bert_large";
  training.cluster.nodes = nodes;
  training.cluster.workers_per_node = workers;
  training.sim.fidelity = fidelity;
  Trained trained;
  const bool message = fidelity == SimOptions::Fidelity::message;
  const long few = message ? 0 : 1, many = message ? 1 : 9;
  const double per_second = steps_per_second(training, few, many, trained);
  if (trained.counters.empty()) return 0;
  fmt::print("{:<34} {:>10} {:>12.3f} {:>12} {:>14.9g}",
             fmt::format("{} on {} x {}", algorithm["name"].get<std::string>(), nodes, workers),
             message ? "message" : "fluid", per_second, trained.max_rss_kib / 1024,
             trained.seconds() / static_cast<double>(many));
  if (least > 0) print_target("steps/s at least", per_second / least, least);
  fmt::print("\n");
  std::fflush(stdout);
  return per_second;
}

/// Simulates Streaming DiLoCo with the profile streaming_100b. Prints its rounds, each of which is
/// the exchange of one fragment, per second.
void print_streaming_diloco(int sites) {
  constexpr long kFragments = 36, kPeriod = 100;
  constexpr double kLeast = 20;
  Training training;
  training.algorithm = {{"name", "streaming_diloco"},
                        {"fragments", kFragments},
                        {"sync_every", kPeriod},
                        {"spacing", "rounded"},
                        {"codec", "e3m0"}};
  training.workload = "profile:" TRIGRAM_PROFILES "/streaming_100b.csv";
  training.cluster.nodes = sites;
  training.cluster.workers_per_node = 1;
  training.sim.fidelity = SimOptions::Fidelity::fluid;
  Trained trained;
  const double steps = steps_per_second(training, 1, 1 + kPeriod, trained);
  if (trained.counters.empty()) return;
  const double rounds = steps * kFragments / kPeriod;
  fmt::print("\nStreaming DiLoCo, streaming_100b in {} fragments, {} sites: {:.1f} rounds/s",
             kFragments, sites, rounds);
  print_target("at least", rounds / kLeast, kLeast);
  fmt::print("\n");
}

Json gradient_allreduce(const char* bucket) {
  return {{"name", "gradient_allreduce"}, {"bucket", bucket}};
}

/// Compares a simulation by flows with a simulation of all messages.
void print_ratio(int nodes, int workers, const char* bucket) {
  using Fidelity = SimOptions::Fidelity;
  const auto steps = [&](Fidelity fidelity) {
    return print_bert(gradient_allreduce(bucket), nodes, workers, fidelity);
  };
  const double by_messages = steps(Fidelity::message), by_flows = steps(Fidelity::fluid);
  fmt::print("{:<34} {:>10} {:>12.0f}\n", "", "ratio", by_flows / by_messages);
}

void print_header(const char* title) {
  fmt::print("\n{:<34} {:>10} {:>12} {:>12} {:>14}\n", title, "fidelity", "steps/s", "MiB",
             "simulated s");
}

}  // namespace

int main() {
  constexpr std::size_t kNumel = 25'600'000;  // gives whole chunks for every number of ranks below
  constexpr int kRepeats = 3;
  fmt::print("ring allreduce of {} f32, microseconds of processor time per message\n", kNumel);
  fmt::print("{:<34} {:>10} {:>12} {:>12} {:>8} {:>14}\n", "", "messages", "hand-written",
             "full stack", "speed", "simulated s");
  for (const int ranks : {16, 64, 128, 256, 1024}) {
    const Ring ring{kNumel, true, ranks <= 16 ? 128 : ranks <= 128 ? 4 : 1};
    const int repeats = ranks <= 256 ? kRepeats : 1;
    print(fmt::format("{} ranks, lock step", ranks),
          compare_rings(ring_cluster(ranks), ring, repeats));
    print(fmt::format("{} ranks, links +-10 %", ranks),
          compare_rings(ring_cluster(ranks, 0.1), ring, repeats));
    print(fmt::format("{} ranks, uneven chunks", ranks),
          compare_rings(ring_cluster(ranks), {kNumel + 7, true, ring.rounds}, repeats));
  }
  fmt::print("\nthe same as a coupled flow, milliseconds of processor time\n");
  constexpr double kMostMs = 20;
  for (const int ranks : {64, 256, 1024, 4096}) {
    const SimOptions automatic{.fidelity = SimOptions::Fidelity::automatic};
    const RingRun run = run_ring(ring_cluster(ranks), {kNumel}, automatic);
    fmt::print("{:<34} {:>10.3f} {:>14.9g}", fmt::format("{} ranks", ranks), 1e3 * run.cpu_s,
               run.simulated_s);
    if (ranks == 1024) print_target("ms at most", kMostMs / (1e3 * run.cpu_s), kMostMs);
    fmt::print("\n");
  }
  using Fidelity = SimOptions::Fidelity;
  print_header("BERT-Large, buckets of 10 MiB");
  print_ratio(16, 8, "10MiB");
  for (const int nodes : {32, 128, 512})
    print_bert(gradient_allreduce("10MiB"), nodes, 8, Fidelity::fluid, nodes == 128 ? 8 : 0);
  // With all buckets, a simulation of all messages of a step of 1,024 workers would take minutes.
  print_header("BERT-Large, one bucket");
  print_bert({{"name", "wagma"}}, 1024, 1, Fidelity::fluid);
  print_ratio(128, 8, "2GB");
  print_streaming_diloco(1024);
}
