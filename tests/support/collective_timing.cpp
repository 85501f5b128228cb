#include "tests/support/collective_timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "runtime/sim/sim_runtime.h"
#include "tests/oracles/closed_forms.h"
#include "tests/support/in_child.h"

namespace trigram::test {
namespace {

constexpr int kSegments = 7;

/// A cluster with the costs of the cost model.
Cluster cluster_of(const CostModel& costs, int ranks) {
  Cluster cluster;
  cluster.nodes = ranks;
  cluster.inter = {1 / costs.beta_s, costs.alpha_s};
  const auto rate = [](double seconds) {
    return seconds > 0 ? 1 / seconds : std::numeric_limits<double>::infinity();
  };
  cluster.accelerator = {"test", rate(costs.flop_s), rate(costs.memory_s), costs.launch_s};
  return cluster;
}

/// An all-to-all of parts of equal length, at least n elements together.
void alltoall(Context ctx, std::size_t n) {
  const auto P = static_cast<std::size_t>(ctx.size());
  const std::vector<Tensor> parts(P, ctx.device->empty((n + P - 1) / P));
  direct_alltoall(ctx, parts, parts);
}

/// An allgather in which rank r contributes n + 3 r elements.
template <void (*allgather)(Context, std::span<const Tensor>)>
void unequal_allgather(Context ctx, std::size_t n) {
  std::vector<Tensor> parts;
  for (int r = 0; r < ctx.size(); ++r)
    parts.push_back(ctx.device->empty(n + 3 * static_cast<std::size_t>(r)));
  allgather(ctx, parts);
}

/// Runs a collective on a vector of n elements.
template <class Collective>
auto on_vector(Collective collective) {
  return [collective](Context ctx, std::size_t n) { collective(ctx, ctx.device->empty(n)); };
}

struct Reduction {
  const char* name;
  void (*run)(Context, const Tensor&, Reduce);
  double (*expected_s)(const CostModel&, int, std::size_t, bool average);
};

constexpr Reduction kReductions[] = {
    {"ring_allreduce", ring_allreduce, ring_allreduce_s},
    {"recursive_doubling_allreduce", recursive_doubling_allreduce, recursive_doubling_allreduce_s},
    {"rabenseifner_allreduce", rabenseifner_allreduce, rabenseifner_allreduce_s},
    {"ring_reduce_scatter", ring_reduce_scatter, ring_reduce_scatter_s},
    {"recursive_halving_reduce_scatter", recursive_halving_reduce_scatter,
     recursive_halving_reduce_scatter_s},
    {"binomial_reduce",
     [](Context c, const Tensor& x, Reduce op) { binomial_reduce(c, x, op, c.size() - 1); },
     binomial_reduce_s},
};

void add_reductions(std::vector<TimedCollective>& all) {
  for (const Reduction& r : kReductions)
    for (const Reduce op : {Reduce::sum, Reduce::avg})
      all.push_back({std::string(r.name) + (op == Reduce::avg ? ", average" : ", sum"),
                     on_vector([run = r.run, op](Context c, const Tensor& x) { run(c, x, op); }),
                     [form = r.expected_s, op](const CostModel& c, int P, std::size_t n) {
                       return form(c, P, n, op == Reduce::avg);
                     }});
}

/// Rings with 2 channels. All nodes have one worker.
TimedCollective channelled_rings() {
  return {"channelled_ring_allreduce, average", on_vector([](Context c, const Tensor& x) {
            channelled_ring_allreduce(c, x, Reduce::avg, {.channels = 2});
          }),
          [](const CostModel& c, int P, std::size_t n) {
            return channelled_ring_allreduce_s(c, P, n, true, 2);
          }};
}

/// The time of an unequal allgather, whose time with a longest tensor of given length is `form`.
template <double (*form)(const CostModel&, int, std::size_t longest)>
double unequal_s(const CostModel& c, int P, std::size_t n) {
  return form(c, P, n + 3 * static_cast<std::size_t>(P - 1));
}

bool folds(const TimedCollective& collective) {
  return collective.name.starts_with("recursive_") || collective.name.starts_with("rabenseifner_");
}

/// One measurement. All ranks start it at the same time, and there is a pause before the next one.
struct Slot {
  const TimedCollective* collective;
  std::size_t n;
  double start_s, expected_s;
};

std::vector<Slot> schedule(const std::vector<TimedCollective>& all, const CostModel& costs,
                           int ranks, const std::vector<std::size_t>& lengths) {
  std::vector<Slot> slots;
  double start_s = 0.001;
  for (const TimedCollective& collective : all)
    for (const std::size_t n : lengths) {
      const double expected_s = collective.expected_s(costs, ranks, n);
      slots.push_back({&collective, n, start_s, expected_s});
      start_s += 2 * expected_s + 0.001;
    }
  return slots;
}

/// Runs the collectives of all slots. Returns, by slot, the time at which the last rank ended.
std::vector<double> measure(const std::vector<Slot>& slots, const CostModel& costs, int ranks,
                            const SimOptions& options, const Transport& transport) {
  std::vector<double> last_s(slots.size(), 0);
  Cluster cluster = cluster_of(costs, ranks);
  cluster.transport = transport;
  make_sim_runtime(options, cluster)->launch(cluster.layout(), [&](const Context& raw) {
    auto meter = instrument(raw, {.phantom = true, .sink = {}});
    const Context ctx = meter->context();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const double wait_s = slots[i].start_s - ctx.stream->now();
      ASSERT_GE(wait_s, 0) << "after " << slots[i - 1].collective->name << " of " << slots[i - 1].n
                           << " elements on rank " << ctx.rank();
      ctx.stream->sleep_for(wait_s);
      slots[i].collective->run(ctx, slots[i].n);
      last_s[i] = std::max(last_s[i], ctx.stream->now());
    }
  });
  return last_s;
}

}  // namespace

CostModel free_reductions() { return {.alpha_s = 25e-6, .beta_s = 1 / 12.5e9}; }

CostModel charged_reductions() {
  CostModel costs = free_reductions();
  costs.launch_s = 5e-6;
  costs.memory_s = 1 / 900e9;
  costs.flop_s = 1 / 15.7e12;
  return costs;
}

std::vector<TimedCollective> timed_collectives() {
  std::vector<TimedCollective> all;
  add_reductions(all);
  all.push_back(channelled_rings());
  all.push_back({"ring_allgather",
                 on_vector([](Context c, const Tensor& x) { ring_allgather(c, x); }),
                 ring_allgather_s});
  all.push_back({"ring_allgather of unequal tensors", unequal_allgather<ring_allgather>,
                 unequal_s<ring_allgather_of_s>});
  all.push_back({"direct_allgather of unequal tensors", unequal_allgather<direct_allgather>,
                 unequal_s<direct_allgather_of_s>});
  all.push_back({"recursive_doubling_allgather", on_vector(recursive_doubling_allgather),
                 recursive_doubling_allgather_s});
  all.push_back({"binomial_broadcast", on_vector([](Context c, const Tensor& x) {
                   binomial_broadcast(c, x, c.size() / 2);
                 }),
                 binomial_broadcast_s});
  all.push_back({"pipelined_broadcast", on_vector([](Context c, const Tensor& x) {
                   pipelined_broadcast(c, x, c.size() / 2, kSegments);
                 }),
                 [](const CostModel& c, int P, std::size_t n) {
                   return pipelined_broadcast_s(c, P, n, kSegments);
                 }});
  all.push_back({"pipelined_reduce", on_vector([](Context c, const Tensor& x) {
                   pipelined_reduce(c, x, Reduce::avg, c.size() / 2, kSegments);
                 }),
                 [](const CostModel& c, int P, std::size_t n) {
                   return pipelined_reduce_s(c, P, n, kSegments, true);
                 }});
  all.push_back({"direct_alltoall", alltoall, direct_alltoall_s});
  return all;
}

std::vector<TimedCollective> folded_collectives() {
  std::vector<TimedCollective> all = timed_collectives();
  std::erase_if(all, [](const TimedCollective& c) { return !folds(c); });
  return all;
}

std::vector<TimedCollective> unfolded_collectives() {
  std::vector<TimedCollective> all = timed_collectives();
  std::erase_if(all, folds);
  return all;
}

std::vector<TimedCollective> timed_collectives(const std::vector<std::string>& names) {
  std::vector<TimedCollective> chosen;
  for (const TimedCollective& collective : timed_collectives())
    if (std::find(names.begin(), names.end(), collective.name) != names.end())
      chosen.push_back(collective);
  EXPECT_EQ(chosen.size(), names.size());
  return chosen;
}

void expect_closed_forms(const std::vector<TimedCollective>& collectives, const CostModel& costs,
                         int ranks, const std::vector<std::size_t>& lengths, double tolerance,
                         const SimOptions& options, const Transport& transport) {
  const auto slots = schedule(collectives, costs, ranks, lengths);
  const auto last_s = values_from_child<double>(
      [&] { return measure(slots, costs, ranks, options, transport); }, std::chrono::seconds(110));
  ASSERT_EQ(last_s.size(), slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const double seconds = last_s[i] - slots[i].start_s, expected_s = slots[i].expected_s;
    EXPECT_NEAR(seconds, expected_s, tolerance * expected_s)
        << slots[i].collective->name << " of " << slots[i].n << " elements on " << ranks
        << " ranks: " << seconds / expected_s << " times its closed form";
  }
}

}  // namespace trigram::test
