// Cost of a simulated message, through the whole stack and in a program written by hand on S4U.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "tests/bench/ring_speed.h"
#include "tests/support/training.h"

namespace {

using namespace trigram::test;
using trigram::SimOptions;

void print(const std::string& title, const Comparison& c) {
  fmt::print("{:<34} {:>10.0f} {:>12.2f} {:>12.2f} {:>8.2f} {:>14.9g}\n", title,
             c.pairs[0].full_stack.messages, 1e6 * c.hand_written_cost_s(),
             1e6 * c.full_stack_cost_s(), c.speed_ratio(), c.pairs[0].full_stack.simulated_s);
  std::fflush(stdout);
}

/// Steps of BERT-Large on many phantom workers: what one second of wall clock simulates.
void print_bert(const char* algorithm, int nodes, int workers, SimOptions::Fidelity fidelity) {
  Training training;
  training.algorithm = {{"name", algorithm}, {"bucket", "10MiB"}};
  training.workload = "bert_large";
  training.cluster.nodes = nodes;
  training.cluster.workers_per_node = workers;
  training.steps = 2;
  training.sim.fidelity = fidelity;
  const auto start = std::chrono::steady_clock::now();
  const Trained trained = train(training);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (trained.counters.empty()) return;
  fmt::print("{:<34} {:>10} {:>12.3f} {:>12} {:>14.9g}\n",
             fmt::format("{} on {} x {}", algorithm, nodes, workers),
             fidelity == SimOptions::Fidelity::message ? "message" : "auto",
             static_cast<double>(training.steps) / wall.count(), trained.max_rss_kib / 1024,
             trained.seconds() / static_cast<double>(training.steps));
  std::fflush(stdout);
}

}  // namespace

int main() {
  constexpr std::size_t kNumel = 25'600'000;  // whole chunks at every number of ranks below
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
  for (const int ranks : {64, 256, 1024, 4096}) {
    const SimOptions automatic{.fidelity = SimOptions::Fidelity::automatic};
    const RingRun run = run_ring(ring_cluster(ranks), {kNumel}, automatic);
    fmt::print("{:<34} {:>10.3f} {:>14.9g}\n", fmt::format("{} ranks", ranks), 1e3 * run.cpu_s,
               run.simulated_s);
  }
  using Fidelity = SimOptions::Fidelity;
  fmt::print("\n{:<34} {:>10} {:>12} {:>12} {:>14}\n", "BERT-Large, buckets of 10 MiB", "fidelity",
             "steps/s", "MiB", "simulated s");
  print_bert("gradient_allreduce", 16, 8, Fidelity::message);
  for (const int nodes : {16, 128, 512})
    print_bert("gradient_allreduce", nodes, 8, Fidelity::automatic);
  print_bert("wagma", 1024, 1, Fidelity::automatic);
}
