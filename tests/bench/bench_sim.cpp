// Cost of a simulated message, through the whole stack and in a program written by hand on S4U.
#include <fmt/format.h>

#include <cstdio>

#include "tests/bench/ring_speed.h"

namespace {

using namespace trigram::test;

void print(const std::string& title, const Comparison& c) {
  fmt::print("{:<34} {:>10.0f} {:>12.2f} {:>12.2f} {:>8.2f} {:>14.9g}\n", title,
             c.pairs[0].full_stack.messages, 1e6 * c.hand_written_cost_s(),
             1e6 * c.full_stack_cost_s(), c.speed_ratio(), c.pairs[0].full_stack.simulated_s);
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
    const trigram::SimOptions automatic{.fidelity = trigram::SimOptions::Fidelity::automatic};
    const RingRun run = run_ring(ring_cluster(ranks), {kNumel}, automatic);
    fmt::print("{:<34} {:>10.3f} {:>14.9g}\n", fmt::format("{} ranks", ranks), 1e3 * run.cpu_s,
               run.simulated_s);
  }
}
