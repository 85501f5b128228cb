// Several jobs on one simulated network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "netmodels/cluster_network.h"
#include "netmodels/machines.h"
#include "netmodels/part_of_cluster.h"
#include "netmodels/prices.h"
#include "tests/support/clusters.h"
#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

namespace trigram::test::jobs_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kBytes = 100'000'000;
constexpr double kNarrow_Bps = 0.5e9;  // between the two sites

/// Two sites of two nodes, which a link of 0.5 GB/s and 1 ms connects. NICs have 1 GB/s and 10 us.
std::shared_ptr<const Cluster> two_sites() {
  const Json topology = {
      {"kind", "wan"},
      {"regions", {{{"name", "a"}, {"nodes", 2}}, {{"name", "b"}, {"nodes", 2}}}},
      {"delay_is", "one_way"},
      {"delay", {{nullptr, "1ms"}, {"1ms", nullptr}}},
      {"bandwidth", {{nullptr, "4Gbps"}, {"4Gbps", nullptr}}}};
  return std::make_shared<const Cluster>(
      parse_cluster({{"nodes", 4},
                     {"inter", {{"bandwidth", "8Gbps"}, {"latency", "10us"}}},
                     {"slow_workers", {{{"rank", 3}, {"factor", 2}}}},
                     {"topology", topology}},
                    "/cluster"));
}

constexpr double kLatency_s = 1e-3 + 10e-6;

/// Runs a job on some nodes beside others. Returns the failure; "" if there is none.
std::string run(const std::shared_ptr<const Cluster>& whole, const std::vector<int>& nodes,
                const Task& own, std::vector<std::pair<std::vector<int>, Task>> others) {
  const auto runtime = make_sim_runtime({}, part_of(whole, nodes));
  for (auto& [other_nodes, task] : others) {
    const Cluster part = part_of(whole, other_nodes);
    runtime->add_job({"other", part, part.layout(), task});
  }
  try {
    runtime->launch(part_of(whole, nodes).layout(), own);
  } catch (const HangError& error) {
    return std::string("hang: ") + error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// Moves a message from rank 0 to rank 1 from `start_s` on, and expects it to end at `end_s`.
Task message(double start_s, double end_s) {
  return [=](const Context& ctx) {
    if (start_s > 0) ctx.stream->sleep_for(start_s);
    message_from_0_to_1(ctx, kBytes);
    if (ctx.rank() == 1) {
      EXPECT_NEAR(ctx.stream->now(), end_s, 1e-9);
    }
  };
}

TEST(Jobs, shareTheLinksOfTheirRoutes) {
  const double alone_s = kBytes / kNarrow_Bps;
  in_child([&] {  // both cross the narrow link at the same time
    const double end_s = kLatency_s + 2 * alone_s;
    EXPECT_EQ(run(two_sites(), {0, 2}, message(0, end_s), {{{1, 3}, message(0, end_s)}}), "");
  });
  in_child([&] {  // in opposite directions
    const double end_s = kLatency_s + alone_s;
    EXPECT_EQ(run(two_sites(), {0, 2}, message(0, end_s), {{{3, 1}, message(0, end_s)}}), "");
  });
  in_child([&] {  // the other job stays inside its site, where only NICs limit it
    EXPECT_EQ(run(two_sites(), {0, 1}, message(0, 10e-6 + kBytes / 1e9),
                  {{{2, 3}, message(0, 10e-6 + kBytes / 1e9)}}),
              "");
  });
}

TEST(Jobs, shareTheLinksOnlyWhileBothRun) {
  // The second message begins when half of the first has passed; from then on both have half of
  // the link, and the second has it to itself when the first has ended.
  const double alone_s = kBytes / kNarrow_Bps;
  in_child([&] {
    EXPECT_EQ(run(two_sites(), {1, 3}, message(alone_s / 2, kLatency_s + 2 * alone_s),
                  {{{0, 2}, message(0, kLatency_s + 1.5 * alone_s)}}),
              "");
  });
}

TEST(Jobs, haveRanksAndMessagesOfTheirOwn) {
  // Both jobs use the same ranks, streams and tags.
  const auto exchange = [](std::int64_t mark) {
    return [mark](const Context& ctx) {
      EXPECT_EQ(ctx.size(), 2);
      EXPECT_EQ(ctx.world_size, 2);
      const auto stream = ctx.stream->fork("comm");
      const int peer = 1 - ctx.rank();
      ctx.control->post(peer, 0, mark);
      const auto got = ctx.control->receive(0);
      ASSERT_TRUE(got);
      EXPECT_EQ(got->a, mark);
      EXPECT_EQ(got->source, peer);
      const Tensor sent = ctx.device->empty(1, DType::f32, 1);
      const Tensor received = ctx.device->empty(1, DType::f32, 1);
      ctx.device->fill(sent, static_cast<float>(mark));
      const std::array batch{Transfer{Transfer::send, sent, peer},
                             Transfer{Transfer::recv, received, peer}};
      const auto work = stream->submit(ctx, [&](const Context& c) { c.comm->transfer(batch); });
      ctx.stream->wait(*work);
      EXPECT_EQ(ctx.device->download<float>(received).front(), static_cast<float>(mark));
    };
  };
  in_child([&] { EXPECT_EQ(run(two_sites(), {0, 2}, exchange(1), {{{3, 1}, exchange(2)}}), ""); });
}

TEST(Jobs, doNotReceiveEachOthersMessages) {
  // With shared mailboxes, the first message of all would go to the receiver that waits first.
  const auto one_message = [](float value, double sent_s, double received_s) -> Task {
    return [=](const Context& ctx) {
      const Tensor x = ctx.device->empty(1, DType::f32, 1);
      const bool sends = ctx.rank() == 0;
      ctx.stream->sleep_for(sends ? sent_s : received_s);
      ctx.device->fill(x, sends ? value : 0);
      ctx.comm->transfer(
          std::array{Transfer{sends ? Transfer::send : Transfer::recv, x, 1 - ctx.rank()}});
      EXPECT_EQ(ctx.device->download<float>(x).front(), value);
    };
  };
  in_child([&] {
    EXPECT_EQ(run(two_sites(), {0, 2}, one_message(1, 2, 1), {{{1, 3}, one_message(2, 1, 3)}}), "");
  });
}

TEST(Jobs, anOtherJobThatHasNotEndedIsLeftUnfinished) {
  in_child([] {
    EXPECT_EQ(run(two_sites(), {0, 2}, [](const Context& ctx) { ctx.stream->sleep_for(1); },
                  {{{1, 3},
                    [](const Context& ctx) {
                      ctx.stream->sleep_for(2);
                      ADD_FAILURE() << "it goes on";
                    }}}),
              "");
  });
}

TEST(Jobs, aFailureInAnyJobEndsTheLaunch) {
  const Task fails = [](const Context& ctx) {
    ctx.stream->sleep_for(1);
    if (ctx.rank() == 1) throw std::runtime_error("no luck");
    ctx.stream->sleep_for(9);
  };
  const Task waits = [](const Context& ctx) { ctx.stream->sleep_for(5); };
  in_child([&] { EXPECT_EQ(run(two_sites(), {0, 2}, waits, {{{1, 3}, fails}}), "no luck"); });
  in_child([&] { EXPECT_EQ(run(two_sites(), {0, 2}, fails, {{{1, 3}, waits}}), "no luck"); });
}

TEST(Jobs, aHangEndsTheLaunch) {
  const Task hangs = [](const Context& ctx) {
    if (ctx.rank() == 1) receive_phantom(ctx, 0, 8);
  };
  const Task ends = [](const Context& ctx) { ctx.stream->sleep_for(1); };
  in_child([&] {
    EXPECT_THAT(run(two_sites(), {0, 2}, hangs, {{{1, 3}, ends}}), StartsWith("hang: rank 1"));
  });
  // The measured job ends before it can be known that the other one hangs.
  in_child([&] { EXPECT_EQ(run(two_sites(), {0, 2}, ends, {{{1, 3}, hangs}}), ""); });
}

TEST(Jobs, aMessageThatNobodyReceivesNamesTheJob) {
  auto eager = std::make_shared<Cluster>(*two_sites());
  eager->transport.protocol = Transport::Protocol::eager;
  const Task sends = [](const Context& ctx) {
    if (ctx.rank() == 0) send_phantom(ctx, 1, 8);
  };
  const Task ends = [](const Context& ctx) { ctx.stream->sleep_for(1); };
  in_child([&] {
    EXPECT_THAT(run(eager, {0, 2}, ends, {{{1, 3}, sends}}), HasSubstr("job other: rank 0"));
  });
}

TEST(PartOfCluster, keepsWhatItsNodesHaveInTheWhole) {
  const auto whole = two_sites();
  const Cluster part = part_of(whole, {3, 0});
  ASSERT_EQ(part.ranks(), 2);
  ASSERT_EQ(part.slow_workers.size(), 1U);
  EXPECT_EQ(part.slow_workers.front().rank, 0);
  EXPECT_EQ(make_machine_model(part)->compute_factor(0, 5), 2);
  EXPECT_EQ(make_machine_model(part)->compute_factor(1, 5), 1);
  EXPECT_EQ(egress_tariff(part).zones, (std::vector{1, 0}));
  const auto network = make_network(part), all = make_network(*whole);
  EXPECT_EQ(network->latency(0, 1), all->latency(3, 0));
  EXPECT_EQ(network->bandwidth(0, 1), all->bandwidth(3, 0));
  EXPECT_EQ(network->vertex(network->worker(0)).node, 3);
  std::vector<LinkId> links, expected;
  network->injection(0, false, links);
  all->injection(3, false, expected);
  EXPECT_EQ(links, expected);
}

TEST(PartOfCluster, keepsTheBandwidthsThatWereDrawn) {
  Cluster uneven = round_cluster(4, 2);
  uneven.bandwidth_jitter = 0.3;
  for (const Nics nics : {Nics::shared, Nics::per_worker}) {
    uneven.nics = nics;
    const auto whole = std::make_shared<const Cluster>(uneven);
    const Cluster part = part_of(whole, {2, 1});
    EXPECT_EQ(part.port_bandwidth(1), whole->port_bandwidth(5));
    EXPECT_EQ(part.port_bandwidth(2), whole->port_bandwidth(2));
    const int nics_of_node = nics == Nics::per_worker ? 2 : 1;
    for (int i = 0; i < nics_of_node; ++i)
      EXPECT_EQ(part.nic_bandwidth(i), whole->nic_bandwidth(2 * nics_of_node + i));
    EXPECT_EQ(make_network(part)->bandwidth(0, 3), make_network(*whole)->bandwidth(4, 3));
  }
}

}  // namespace
}  // namespace trigram::test::jobs_test
