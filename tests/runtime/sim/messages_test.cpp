// The cost of messages in the simulated world, compared with times computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "netmodels/cluster_network.h"
#include "netmodels/network/lower_bound.h"
#include "tests/support/simulate.h"

namespace trigram::test::messages_test {
namespace {

using testing::Each;

constexpr double kTolerance = 1e-9;  // relative

/// `source` sends `nbytes` to `destination`; both return their time.
double one_message(const Context& ctx, int source, int destination, std::size_t nbytes) {
  std::vector<Transfer> batch;
  if (ctx.rank() == source) batch.push_back({Transfer::send, phantom_bytes(nbytes), destination});
  if (ctx.rank() == destination) batch.push_back({Transfer::recv, phantom_bytes(nbytes), source});
  ctx.comm->transfer(batch);
  return ctx.stream->now();
}

double time_of_message(const Cluster& cluster, int source, int destination, std::size_t nbytes,
                       const SimOptions& options = {}) {
  const auto times = simulate(
      cluster, [&](const Context& ctx) { return one_message(ctx, source, destination, nbytes); },
      options);
  if (source != destination) {
    EXPECT_EQ(times[static_cast<std::size_t>(source)], 0) << "taken";
  }
  return times[static_cast<std::size_t>(destination)];
}

TEST(SimMessages, one_message_takes_latency_plus_bytes_over_bandwidth) {
  for (const std::size_t nbytes : {1ul, 1000ul, 4096ul, 1'000'000ul, 1'000'000'000ul}) {
    const double expected = 10e-6 + static_cast<double>(nbytes) / 1e9;
    EXPECT_NEAR(time_of_message(round_cluster(2), 0, 1, nbytes) / expected, 1, kTolerance);
  }
}

/// The second message of a connection begins to move when the first has arrived. Its remaining
/// latency is then shorter than that of the route, or zero. It still shares the receiver's link
/// evenly.
TEST(SimMessages, messages_that_follow_others_share_links_evenly) {
  constexpr std::size_t kFirst = 5'000, kSecond = 1'000'000, kOther = 10'000'000;
  for (const double later_s : {0.0, 14.9e-6}) {  // no latency remains, or half of it
    const auto times = simulate(round_cluster(3), [&](const Context& ctx) {
      if (ctx.rank() == 2) send_phantom(ctx, 1, kOther);
      message_from_0_to_1(ctx, kFirst);
      if (ctx.rank() == 0) ctx.stream->sleep_for(later_s);
      message_from_0_to_1(ctx, kSecond);
      const double second_s = ctx.stream->now();
      if (ctx.rank() == 1) receive_phantom(ctx, 2, kOther);
      return second_s;
    });
    const double begins_s = 10e-6 + std::max(2 * kFirst / 1e9, later_s);
    EXPECT_NEAR(times[1] / (begins_s + 2 * kSecond / 1e9), 1, kTolerance) << later_s;
  }
}

TEST(SimMessages, an_empty_message_takes_the_latency) {
  EXPECT_NEAR(time_of_message(round_cluster(2), 0, 1, 0), 10e-6, 1e-15);
}

TEST(SimMessages, without_latency_only_bytes_cost) {
  Cluster cluster = round_cluster(2);
  cluster.inter.latency_s = 0;
  EXPECT_NEAR(time_of_message(cluster, 0, 1, 1000), 1e-6, 1e-15);
  EXPECT_NEAR(time_of_message(cluster, 0, 1, 0), 0, 1e-15);
}

TEST(SimMessages, messages_inside_a_node_take_the_fabric) {
  const Cluster cluster = round_cluster(2, 2);
  EXPECT_NEAR(time_of_message(cluster, 0, 1, 1'000'000), 1e-6 + 1e6 / 10e9, 1e-13);
  EXPECT_NEAR(time_of_message(cluster, 1, 2, 1'000'000), 10e-6 + 1e6 / 1e9, 1e-12);
  EXPECT_NEAR(time_of_message(round_cluster(1, 4), 3, 0, 1'000'000), 1e-6 + 1e6 / 10e9, 1e-13);
}

TEST(SimMessages, a_message_to_oneself_passes_memory_alone) {
  EXPECT_NEAR(time_of_message(round_cluster(2), 1, 1, 1'000'000), 1e6 / 100e9, 1e-15);
}

TEST(SimMessages, the_description_predicts_each_message) {
  Cluster cluster = round_cluster(2, 2);
  cluster.bandwidth_jitter = 0.1;
  for (const auto& [source, destination] : {std::pair{0, 1}, {0, 2}, {3, 1}, {2, 2}}) {
    const double predicted = make_network(cluster)->message_time(source, destination, 1e7);
    const double simulated = time_of_message(cluster, source, destination, 10'000'000);
    EXPECT_NEAR(simulated / predicted, 1, kTolerance) << source << " to " << destination;
  }
}

TEST(SimMessages, both_directions_of_a_link_are_independent) {
  const auto times = simulate(round_cluster(2), [](const Context& ctx) {
    const int peer = 1 - ctx.rank();
    ctx.comm->transfer(std::vector<Transfer>{{Transfer::recv, phantom_bytes(1'000'000), peer},
                                             {Transfer::send, phantom_bytes(1'000'000), peer}});
    return ctx.stream->now();
  });
  for (const double t : times) EXPECT_NEAR(t, 10e-6 + 1e-3, 1e-12);
}

TEST(SimMessages, messages_that_share_a_nic_share_its_bandwidth) {
  // Ranks 0, 1, 2 of node 0 each send 1 MB to their peers in node 1: 3 MB through one NIC.
  const auto times = simulate(round_cluster(2, 3), [](const Context& ctx) {
    const bool sends = ctx.rank() < 3;
    const int peer = sends ? ctx.rank() + 3 : ctx.rank() - 3;
    ctx.comm->transfer(std::vector<Transfer>{
        {sends ? Transfer::send : Transfer::recv, phantom_bytes(1'000'000), peer}});
    return ctx.stream->now();
  });
  for (int receiver = 3; receiver < 6; ++receiver)
    EXPECT_NEAR(times[static_cast<std::size_t>(receiver)], 10e-6 + 3e-3, 3e-12);
  // The time equals the lower bound.
  std::vector<Traffic> sent(6);
  for (int rank = 0; rank < 3; ++rank) sent[static_cast<std::size_t>(rank)] = {0, 1'000'000, 0, 1};
  EXPECT_NEAR(times[3], lower_bound(*make_network(round_cluster(2, 3)), sent), 3e-12);
}

TEST(SimMessages, a_batch_starts_at_once) {
  // Rank 0 sends 1 MB to each of 6 other nodes. Its NIC moves 6 MB, and there is one latency.
  const auto times = simulate(round_cluster(7), [](const Context& ctx) {
    std::vector<Transfer> batch;
    if (ctx.rank() == 0)
      for (int peer = 1; peer < 7; ++peer)
        batch.push_back({Transfer::send, phantom_bytes(1'000'000), peer});
    else batch.push_back({Transfer::recv, phantom_bytes(1'000'000), 0});
    ctx.comm->transfer(batch);
    return ctx.stream->now();
  });
  for (std::size_t receiver = 1; receiver < times.size(); ++receiver)
    EXPECT_NEAR(times[receiver], 10e-6 + 6e-3, 6e-12);
}

TEST(SimMessages, tcp_is_slower_by_its_documented_factors) {
  // LV08: 13.01 times the latency, 0.97 times the bandwidth.
  const SimOptions tcp{.network_model = SimOptions::NetworkModel::tcp};
  EXPECT_NEAR(time_of_message(round_cluster(2), 0, 1, 0, tcp), 13.01 * 10e-6, 1e-12);
  EXPECT_NEAR(time_of_message(round_cluster(2), 0, 1, 100'000'000, tcp), 13.01 * 10e-6 + 0.1 / 0.97,
              1e-9);
}

TEST(SimMessages, eager_messages_leave_before_their_receives_are_posted) {
  auto late_receiver = [](const Context& ctx) {
    if (ctx.rank() == 1) ctx.stream->sleep_for(1);
    return one_message(ctx, 0, 1, 1'000'000);
  };
  const double flight = 10e-6 + 1e-3;
  Cluster with_rendezvous = round_cluster(2);
  with_rendezvous.transport.protocol = Transport::Protocol::rendezvous;
  const auto rendezvous = simulate(with_rendezvous, late_receiver);
  EXPECT_NEAR(rendezvous[0], 1 + flight, 1e-12);
  EXPECT_NEAR(rendezvous[1], 1 + flight, 1e-12);
  const auto eager = simulate(round_cluster(2), late_receiver);
  EXPECT_EQ(eager[0], 0);  // the transport has buffered it
  EXPECT_NEAR(eager[1], 1, 1e-12);
}

TEST(SimMessages, values_arrive_as_they_were_when_sent) {
  simulate(round_cluster(2), [](const Context& ctx) {
    const int peer = 1 - ctx.rank();
    Tensor mine = ctx.device->empty(1000);
    Tensor x = mine;
    std::iota(x.floats().begin(), x.floats().end(), 1000.f * static_cast<float>(ctx.rank()));
    // The same memory is sent from and received into.
    ctx.comm->transfer(std::vector<Transfer>{{Transfer::send, x, peer}, {Transfer::recv, x, peer}});
    for (std::size_t i = 0; i < 1000; ++i)
      EXPECT_EQ(x.floats()[i], 1000.f * static_cast<float>(peer) + static_cast<float>(i));
    return 0.0;
  });
}

/// A ring of uneven messages with computation between them.
double busy_ring(const Context& ctx, bool phantom, std::size_t priced_per_real) {
  const int next = (ctx.rank() + 1) % ctx.size(),
            previous = (ctx.rank() + ctx.size() - 1) % ctx.size();
  for (std::size_t step = 0; step < 10; ++step) {
    const std::size_t n = 1000 + 77 * step, priced = n * priced_per_real;
    Tensor out =
        phantom ? Tensor::phantom(n, DType::f32, priced) : ctx.device->empty(n, DType::f32, priced);
    Tensor in =
        phantom ? Tensor::phantom(n, DType::f32, priced) : ctx.device->empty(n, DType::f32, priced);
    ctx.comm->transfer(
        std::vector<Transfer>{{Transfer::send, out, next}, {Transfer::recv, in, previous}});
    ctx.stream->charge({.bytes = static_cast<double>(in.priced_nbytes())});
  }
  return ctx.stream->now();
}

TEST(SimMessages, phantoms_take_the_time_of_values) {
  const Cluster cluster = round_cluster(3, 2);
  const auto valued = simulate(cluster, [](const Context& c) { return busy_ring(c, false, 50); });
  const auto phantom = simulate(cluster, [](const Context& c) { return busy_ring(c, true, 50); });
  EXPECT_EQ(valued, phantom);
  const auto unpriced = simulate(cluster, [](const Context& c) { return busy_ring(c, false, 1); });
  EXPECT_GT(valued[0], unpriced[0]);
}

TEST(SimMessages, the_same_simulation_takes_the_same_time_to_the_last_bit) {
  Cluster cluster = round_cluster(5, 3);
  cluster.bandwidth_jitter = 0.1;
  auto run = [&] {
    return simulate(cluster, [](const Context& c) { return busy_ring(c, true, 9); });
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace trigram::test::messages_test
