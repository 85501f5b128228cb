// Collectives as coupled flows, compared with closed forms and with all their messages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "core/subset.h"
#include "experiments/config/cluster_file.h"
#include "tests/support/collective_timing.h"
#include "tests/support/in_child.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test::collectives_test {
namespace {

using Fidelity = SimOptions::Fidelity;

const std::vector<std::string> kCoupled = {
    "ring_allreduce, sum",      "ring_allreduce, average",
    "ring_reduce_scatter, sum", "ring_reduce_scatter, average",
    "ring_allgather",           "ring_allgather of unequal tensors",
    "direct_alltoall"};

class FluidClosedForms : public ::testing::TestWithParam<int> {};

TEST_P(FluidClosedForms, HoldAsForMessages) {
  const std::vector<std::size_t> lengths = {0, 1, 5, 1000, 100'003, 25'000'000};
  const SimOptions fluid{.fidelity = Fidelity::fluid};
  for (const CostModel& costs : {free_reductions(), charged_reductions()}) {
    expect_closed_forms(timed_collectives(kCoupled), costs, GetParam(), lengths, 1e-9, fluid);
    expect_closed_forms(timed_collectives({"pipelined_broadcast"}), costs, GetParam(), lengths,
                        1e-9, fluid);
    // In a flow, each rank computes for every segment as long as for the longest one; empty
    // segments would then cost computation.
    expect_closed_forms(timed_collectives({"pipelined_reduce"}), costs, GetParam(),
                        {0, 1000, 100'003, 25'000'000}, 2e-4, fluid);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, FluidClosedForms, ::testing::Values(2, 3, 4, 7, 16, 64, 256),
                         ::testing::PrintToStringParamName());

/// A collective of the first `ranks` ranks, one of which begins `late_s` after the others.
struct Case {
  std::string name;
  std::function<void(Context, std::size_t)> run;
  int ranks;
  std::size_t numel;
  double late_s;
};

template <class Collective>
auto on_vector(Collective collective) {
  return [collective](Context ctx, std::size_t n) { collective(ctx, ctx.device->empty(n)); };
}

void alltoall(Context ctx, std::size_t n) {
  const auto P = static_cast<std::size_t>(ctx.size());
  const std::vector<Tensor> parts(P, ctx.device->empty(n / P));
  direct_alltoall(ctx, parts, parts);
}

/// An allgather in which the tensor of the rank after the late rank is ten times as long as the
/// other tensors. It has travelled a part of the ring before the late rank arrives.
void uneven_allgather(Context ctx, std::size_t n) {
  std::vector<Tensor> parts(static_cast<std::size_t>(ctx.size()), ctx.device->empty(n / 10));
  parts[static_cast<std::size_t>((ctx.size() / 2 + 1) % ctx.size())] = ctx.device->empty(n);
  ring_allgather(ctx, parts);
}

std::vector<Case> all_cases(int most_ranks) {
  const std::vector<std::pair<std::string, std::function<void(Context, std::size_t)>>> all = {
      {"allreduce",
       on_vector([](Context c, const Tensor& x) { ring_allreduce(c, x, Reduce::avg); })},
      {"reduce_scatter",
       on_vector([](Context c, const Tensor& x) { ring_reduce_scatter(c, x, Reduce::sum); })},
      {"allgather", on_vector([](Context c, const Tensor& x) { ring_allgather(c, x); })},
      {"broadcast", on_vector([](Context c, const Tensor& x) { pipelined_broadcast(c, x, 1, 9); })},
      {"reduce",
       on_vector([](Context c, const Tensor& x) { pipelined_reduce(c, x, Reduce::avg, 1, 9); })},
      {"all_to_all", alltoall},
      {"uneven_allgather", uneven_allgather}};
  std::vector<Case> cases;
  for (const auto& [name, run] : all)
    for (const int ranks : {2, 8, most_ranks})
      for (const std::size_t numel :
           {std::size_t{100}, std::size_t{100'000}, std::size_t{5'000'000}})
        for (const double late_s : {0.0, 0.013}) cases.push_back({name, run, ranks, numel, late_s});
  return cases;
}

/// The duration of each case in seconds, from the common start to the last end, followed by the
/// number of collectives that were simulated as flows, and by messages.
std::vector<double> seconds(const Cluster& cluster, const std::vector<Case>& cases,
                            Fidelity fidelity) {
  return values_from_child<double>(
      [&] {
        std::vector<double> last_s(cases.size(), 0);
        const auto runtime = make_sim_runtime({.fidelity = fidelity}, cluster);
        runtime->launch(cluster.layout(), [&](const Context& raw) {
          const auto meter = instrument(raw, {.phantom = true, .sink = {}});
          const Context ctx = meter->context();
          std::vector<int> members(static_cast<std::size_t>(ctx.size()));
          std::iota(members.begin(), members.end(), 0);
          for (std::size_t i = 0; i < cases.size(); ++i) {
            const Case& current = cases[i];
            const double start_s = 100.0 * static_cast<double>(i + 1);
            if (ctx.rank() >= current.ranks) continue;
            Subset subset(*ctx.comm, std::span(members).first(std::size_t(current.ranks)));
            const bool late = ctx.rank() == current.ranks / 2;
            ctx.stream->sleep_for(start_s + (late ? current.late_s : 0) - ctx.stream->now());
            current.run(ctx.with(subset), current.numel);
            last_s[i] = std::max(last_s[i], ctx.stream->now() - start_s);
          }
        });
        const Json notes = runtime->notes();
        last_s.push_back(notes.value("collectives_fluid", 0.0));
        last_s.push_back(notes.value("collectives_by_messages", 0.0));
        return last_s;
      },
      std::chrono::seconds(110));
}

/// A chain is a flow shop of equal machines. Each hop takes the tensors in order, and every hop
/// after the first adds the time of the longest tensor. The transport can buffer all tensors.
TEST(FluidChains, ForwardTensorsOfUnequalLengths) {
  const std::vector<std::size_t> lengths = {1'000'000, 10, 250'000, 40'000, 1'000'000, 3, 500'000};
  const auto tensors = [&lengths](Context ctx) {
    std::vector<Tensor> all;
    for (const std::size_t n : lengths) all.push_back(ctx.device->empty(n));
    return all;
  };
  const double all = 2'790'013, longest = 1'000'000;
  for (const int ranks : {2, 3, 6}) {
    const std::vector<Case> chains = {
        {"broadcast", [&](Context c, std::size_t) { pipelined_broadcast(c, tensors(c), 1); }, ranks,
         0, 0},
        {"reduce", [&](Context c, std::size_t) { pipelined_reduce(c, tensors(c), Reduce::sum, 1); },
         ranks, 0, 0}};
    Cluster cluster = round_cluster(ranks);
    cluster.transport.buffer_bytes = 1e9;
    const auto fluid_s = seconds(cluster, chains, Fidelity::fluid);
    const auto messages_s = seconds(cluster, chains, Fidelity::message);
    const auto automatic_s = seconds(cluster, chains, Fidelity::automatic);
    const int hops = ranks - 1;
    EXPECT_NEAR(fluid_s[0], 4e-9 * (all + (hops - 1) * longest) + 10e-6 * hops, 1e-9) << ranks;
    EXPECT_NEAR(messages_s[0], fluid_s[0], 1e-9) << ranks;
    // As a flow, a reduce computes for every tensor as long as for the longest one.
    EXPECT_NEAR(messages_s[1], fluid_s[1], 0.1 * fluid_s[1]) << ranks;
    for (std::size_t i = 0; i < chains.size(); ++i)
      EXPECT_EQ(messages_s[i], automatic_s[i]) << ranks << chains[i].name;
  }
}

/// A preset, or a network of small_networks().
Cluster network_of(const std::string& name) {
  for (const NamedCluster& network : small_networks())
    if (network.name == name) return network.cluster;
  return parse_cluster(read_cluster_file(name, "/cluster").description, "/cluster");
}

class FluidAgainstMessages : public ::testing::TestWithParam<std::string> {};

TEST_P(FluidAgainstMessages, AgreeWhereAutoUsesFlows) {
  const Cluster cluster = network_of(GetParam());
  const auto cases = all_cases(std::min(cluster.ranks(), 48));
  const auto by_messages = seconds(cluster, cases, Fidelity::message);
  const auto automatic = seconds(cluster, cases, Fidelity::automatic);
  ASSERT_EQ(by_messages.size(), cases.size() + 2);
  ASSERT_EQ(automatic.size(), cases.size() + 2);
  double worst = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double error = std::abs(automatic[i] / by_messages[i] - 1);
    worst = std::max(worst, error);
    EXPECT_LT(error, 0.01) << cases[i].name << " of " << cases[i].numel << " elements on "
                           << cases[i].ranks << " ranks, one late by " << cases[i].late_s
                           << " s: " << automatic[i] << " s, by messages " << by_messages[i]
                           << " s";
  }
  fmt::print(stderr, "{}: {} of {} collectives as flows, at most {:.2e} off\n", GetParam(),
             automatic[cases.size()], cases.size(), worst);
  // On every preset the rings of two ranks are flows, whether the ranks share a node or not, except
  // the first ring of a group.
  EXPECT_GE(automatic[cases.size()], 23);
  EXPECT_EQ(automatic[cases.size()] + automatic[cases.size() + 1],
            static_cast<double>(cases.size()));
}

INSTANTIATE_TEST_SUITE_P(Presets, FluidAgainstMessages,
                         ::testing::Values<std::string>("bagua_v100_100gbps", "bagua_v100_25gbps",
                                                        "bagua_v100_10gbps", "ethernet_10g",
                                                        "ib_100g", "piz_daint", "world"),
                         [](const auto& preset) { return preset.param; });

/// The uneven allgathers come after exchanges among all of the same ranks.
TEST(FluidAuto, UsesFlowsForRingsUntilTheirRanksExchangeAmongAll) {
  const Cluster cluster = round_cluster(8);
  const std::vector<Case> cases = all_cases(8);
  const auto automatic = seconds(cluster, cases, Fidelity::automatic);
  ASSERT_EQ(automatic.size(), cases.size() + 2);
  const auto others = std::count_if(cases.begin(), cases.end(), [](const Case& c) {
    return c.name != "allreduce" && c.name != "reduce_scatter" && c.name != "allgather";
  });
  EXPECT_EQ(automatic[cases.size() + 1], static_cast<double>(others + 1)) << "a group's first";
}

/// Of four ranks, the long tensor delays the rank before the late one: the transport buffers two
/// short tensors until the late rank arrives. Everything else has arrived before that.
TEST(FluidAuto, UnevenTensorsTakeAsLongAsByMessages) {
  constexpr double kLate_s = 0.1;
  const std::vector<Case> late = {{"uneven_allgather", uneven_allgather, 4, 1'000'000, kLate_s}};
  const Cluster cluster = round_cluster(4);
  const double long_s = 4e6 / 1e9 + 10e-6;
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::automatic, Fidelity::fluid})
    EXPECT_NEAR(seconds(cluster, late, fidelity).at(0), kLate_s + long_s, 1e-9);
}

/// Groups with one member in each node share all NICs. They run one after the other: when the first
/// begins, the simulator has not seen the others yet.
TEST(FluidAuto, GroupsThatMayShareLinksTakeAsLongAsByMessages) {
  const auto in_groups = [](Context c, std::size_t n) {
    const int first = c.rank() % 4;
    const std::vector<int> members = {first, first + 4, first + 8, first + 12};
    c.stream->sleep_for(65e-6 * c.rank());
    Subset group(*c.comm, members);
    for (int again = 0; again < 3; ++again)
      ring_allreduce(c.with(group), c.device->empty(n), Reduce::avg);
  };
  for (const std::size_t numel : {std::size_t{30'000}, std::size_t{1'000'000}}) {
    const std::vector<Case> groups = {{"groups", in_groups, 16, numel, 0}};
    Cluster cluster = round_cluster(4, 4);
    cluster.inter.latency_s = 200e-6;
    const double messages_s = seconds(cluster, groups, Fidelity::message).at(0);
    EXPECT_NEAR(seconds(cluster, groups, Fidelity::automatic).at(0), messages_s, 0.01 * messages_s)
        << numel;
  }
}

TEST(FluidHang, NamesTheWaitingRanks) {
  const std::string failure = failure_of(round_cluster(3),
                                         [](Context ctx) {
                                           if (ctx.rank() != 1)
                                             ring_allreduce(ctx, phantom_bytes(1000), Reduce::sum);
                                         },
                                         {.fidelity = Fidelity::fluid});
  EXPECT_TRUE(failure.starts_with("hang: ")) << failure;
  EXPECT_NE(failure.find("rank 0"), std::string::npos) << failure;
}

}  // namespace
}  // namespace trigram::test::collectives_test
