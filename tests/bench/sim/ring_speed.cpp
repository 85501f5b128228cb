#include "tests/bench/sim/ring_speed.h"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "netmodels/cluster_network.h"
#include "runtime/sim/sim_runtime.h"
#include "runtime/sim/simulation.h"
#include "tests/bench/median.h"
#include "tests/support/in_child.h"

namespace trigram::test {
namespace {

double cpu_time() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A program that sets the process's processor time after the set-up, and the simulated time at the
/// end.
using Program = std::function<void(double& cpu_start_s, double& simulated_s)>;

/// Runs `program` in a child process on processor `cpu`.
Child start(int cpu, const Program& program) {
  return Child([=] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof only, &only);
    std::array<double, 2> values{};
    double cpu_start_s = 0;
    program(cpu_start_s, values[1]);
    values[0] = cpu_time() - cpu_start_s;
    return std::string(reinterpret_cast<const char*>(values.data()), sizeof values);
  });
}

RingRun result(Child& child, double messages) {
  std::array<double, 2> values{};
  const std::string bytes = child.finish(std::chrono::minutes(4));
  if (bytes.size() == sizeof values) std::memcpy(values.data(), bytes.data(), sizeof values);
  return {values[0], values[1], messages};
}

double messages_of(const Cluster& cluster, const Ring& ring) {
  const double ranks = cluster.ranks();
  return ranks * (ranks - 1) * (ring.allgather ? 2 : 1) * ring.rounds;
}

/// One actor of the hand-written program.
void ring_actor(int rank, int ranks, const Ring& ring) {
  namespace s4u = simgrid::s4u;
  auto mailbox = [](int from, int to) {
    return s4u::Mailbox::by_name(fmt::format("{}>{}", from, to));
  };
  auto* inward = mailbox((rank + ranks - 1) % ranks, rank);
  auto* outward = mailbox(rank, (rank + 1) % ranks);
  const auto P = static_cast<std::size_t>(ranks);
  auto chunk_bytes = [&](std::size_t i) {
    return 4 * (ring.numel * (i + 1) / P - ring.numel * i / P);
  };
  int token = 0;
  for (int round = 0; round < ring.rounds; ++round)
    for (int phase = 0; phase < (ring.allgather ? 2 : 1); ++phase)
      for (std::size_t step = 0; step + 1 < P; ++step) {
        // Reduce-scatter begins with the chunk before the rank's own chunk, allgather with its own
        // chunk.
        const std::size_t first = static_cast<std::size_t>(rank) + (phase == 0 ? P - 1 : P);
        int* received = nullptr;
        auto in = inward->get_async(&received);
        auto out = outward->put_async(&token, chunk_bytes((first - step) % P));
        in->wait();
        out->wait();
      }
}

Program hand_written_ring(const Cluster& cluster, const Ring& ring) {
  return [=](double& cpu_start_s, double& simulated_s) {
    const auto network = make_network(cluster);
    sim::Simulation simulation({}, cluster, *network);
    for (int rank = 0; rank < cluster.ranks(); ++rank)
      simulation.spawn(rank, std::to_string(rank),
                       [&, rank] { ring_actor(rank, cluster.ranks(), ring); });
    cpu_start_s = cpu_time();
    simulation.run([] {});
    simulated_s = sim::Simulation::clock();
  };
}

Program full_stack_ring(const Cluster& cluster, const Ring& ring, const SimOptions& options) {
  return [=](double& cpu_start_s, double& simulated_s) {
    make_sim_runtime(options, cluster)->launch(cluster.layout(), [&](const Context& raw) {
      if (cpu_start_s == 0) cpu_start_s = cpu_time();
      const auto meter = instrument(raw, {.phantom = true, .sink = {}});
      const Context ctx = meter->context();
      const Tensor x = ctx.device->empty(ring.numel);
      for (int round = 0; round < ring.rounds; ++round) {
        if (ring.allgather) ring_allreduce(ctx, x, Reduce::sum);
        else ring_reduce_scatter(ctx, x, Reduce::sum);
      }
      simulated_s = std::max(simulated_s, ctx.stream->now());
    });
  };
}

template <class Value>
double median_of(const std::vector<Comparison::Pair>& pairs, const Value& value_of) {
  std::vector<double> values;
  for (const Comparison::Pair& pair : pairs) values.push_back(value_of(pair));
  return median(std::move(values));
}

}  // namespace

Cluster ring_cluster(int ranks, double jitter) {
  Cluster cluster;
  cluster.nodes = ranks;
  cluster.inter = {1.25e9, 25e-6};
  cluster.bandwidth_jitter = jitter;
  const double infinite = std::numeric_limits<double>::infinity();
  cluster.accelerator = {"free", infinite, 1e12, 0};
  cluster.accelerator.memory_Bps = infinite;
  return cluster;
}

double Comparison::speed_ratio() const {
  return median_of(pairs, [](const Pair& pair) {
    return pair.hand_written.cost_s() / pair.full_stack.cost_s();
  });
}

double Comparison::hand_written_cost_s() const {
  return median_of(pairs, [](const Pair& pair) { return pair.hand_written.cost_s(); });
}

double Comparison::full_stack_cost_s() const {
  return median_of(pairs, [](const Pair& pair) { return pair.full_stack.cost_s(); });
}

RingRun run_ring(const Cluster& cluster, const Ring& ring, const SimOptions& options) {
  Child child = start(sched_getcpu(), full_stack_ring(cluster, ring, options));
  return result(child, messages_of(cluster, ring));
}

Comparison compare_rings(const Cluster& cluster, const Ring& ring, int pairs) {
  const double messages = messages_of(cluster, ring);
  Cluster rendezvous = cluster;  // as in the hand-written program
  rendezvous.transport.protocol = Transport::Protocol::rendezvous;
  Comparison all;
  for (int i = 0; i < pairs; ++i) {
    const int cpu = sched_getcpu();
    Child by_hand = start(cpu, hand_written_ring(cluster, ring));
    Child full_stack = start(cpu, full_stack_ring(rendezvous, ring, {}));
    all.pairs.push_back({result(by_hand, messages), result(full_stack, messages)});
  }
  return all;
}

}  // namespace trigram::test
