// Rings of sets of ranks that change from round to round, as coupled flows and as messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/collectives/collectives.h"
#include "core/subset.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::subsets_test {
namespace {

using Fidelity = SimOptions::Fidelity;

constexpr std::size_t kBytes = 3'000'000;

/// No set has a rank of the set before it, so messages between two sets and the rings of both use
/// different links.
const std::vector<std::vector<int>> kSets = {{0, 1, 2}, {3, 4, 5}, {1, 2, 6}, {0, 4, 7}, {2, 3, 5}};

void ring_of(Context ctx, const std::vector<int>& members) {
  Subset subset(*ctx.comm, members);
  ring_allreduce(ctx.with(subset), phantom_bytes(kBytes), Reduce::sum);
}

/// In every round the ranks of a set run a ring. Then each of them sends a message to a rank of the
/// next set. Control messages tell all other ranks that the round has ended.
double changing_sets(const Context& ctx) {
  constexpr int kTag = 1;
  const auto comm = ctx.stream->fork("comm");
  for (std::size_t round = 0; round + 1 < kSets.size(); ++round) {
    const auto &set = kSets[round], &next = kSets[round + 1];
    const auto mine = std::ranges::find(set, ctx.world_rank);
    const auto in_next = std::ranges::find(next, ctx.world_rank);
    if (mine == set.end() && in_next == next.end()) {
      ctx.control->receive(kTag);
      continue;
    }
    const auto ring_and_message = [&](const Context& c) {
      if (mine != set.end()) {
        ring_of(c, set);
        send_phantom(c, next[static_cast<std::size_t>(mine - set.begin())], kBytes);
      } else {
        receive_phantom(c, set[static_cast<std::size_t>(in_next - next.begin())], kBytes);
      }
    };
    ctx.stream->wait(*comm->submit(ctx, ring_and_message));
    if (mine != set.begin()) continue;
    for (int rank = 0; rank < ctx.world_size; ++rank)
      if (!std::ranges::count(set, rank) && !std::ranges::count(next, rank))
        ctx.control->post(rank, kTag, 0);
  }
  const bool last = std::ranges::count(kSets.back(), ctx.world_rank) > 0;
  if (last)
    ctx.stream->wait(*comm->submit(ctx, [](const Context& c) { ring_of(c, kSets.back()); }));
  return ctx.stream->now();
}

TEST(FluidSubsets, ThatChangeTakeTheTimeOfTheirRingsAndMessages) {
  const double ring_s = 4 * (1e6 / 1e9 + 10e-6) + 2 * 3e6 / 100e9, message_s = 3e6 / 1e9 + 10e-6;
  const auto rounds = static_cast<double>(kSets.size());
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid, Fidelity::automatic}) {
    const double end_s =
        latest_end_s(simulate_phantoms(round_cluster(8), changing_sets, {.fidelity = fidelity}));
    EXPECT_NEAR(end_s, rounds * ring_s + (rounds - 1) * message_s, 1e-9);
  }
}

/// The ranks of the ring finish at different times, because their links differ. A message to one of
/// them shares a link with the ring, so that these times become known at the end of the ring only.
/// The ranks then send control messages. Returns when the last one arrived at rank 4.
double control_after_shared_ring(const Context& ctx) {
  constexpr int kRing = 4, kTag = 1;
  const std::vector<int> members = {0, 1, 2, 3};
  const auto comm = ctx.stream->fork("comm"), other = ctx.stream->fork("other");
  if (ctx.world_rank < kRing) {
    const auto ring = comm->submit(ctx, [&](const Context& c) { ring_of(c, members); });
    if (ctx.world_rank == 0) {
      const auto receive = [](const Context& c) { receive_phantom(c, kRing, kBytes / 10); };
      ctx.stream->wait(*other->submit(ctx, receive));
    }
    ctx.stream->wait(*ring);
    ctx.control->post(kRing, kTag, 0);
    return 0;
  }
  const auto send = [](const Context& c) {
    c.stream->sleep_for(1e-3);
    send_phantom(c, 0, kBytes / 10);
  };
  ctx.stream->wait(*other->submit(ctx, send));
  for (int i = 0; i < kRing; ++i) ctx.control->receive(kTag);
  return ctx.stream->now();
}

TEST(FluidSubsets, MaySendControlMessagesAfterAFlowThatSharedLinks) {
  Cluster cluster = round_cluster(5);
  cluster.bandwidth_jitter = 0.5;
  const auto end_s = [&](Fidelity fidelity) {
    return latest_end_s(
        simulate_phantoms(cluster, control_after_shared_ring, {.fidelity = fidelity}));
  };
  const double by_messages_s = end_s(Fidelity::message);
  EXPECT_GT(by_messages_s, 4 * (kBytes / 4) / 1e9);
  EXPECT_NEAR(end_s(Fidelity::fluid), by_messages_s, 0.1 * by_messages_s);
}

/// Federated averaging draws the ranks of its rings. The model reaches the ranks that are drawn
/// next in messages. By messages, ranks that are drawn again send their first chunk meanwhile, so
/// each of these messages may share its links with two chunks, one of its sender and one for its
/// receiver. A flow begins only when the model has arrived everywhere.
TEST(FluidSubsets, OfFederatedAveragingDifferByTheFirstChunksAtMost) {
  constexpr int kRanks = 8, kRounds = 6;
  for (const double fraction : {0.3, 0.5, 0.8}) {
    Training training;
    training.algorithm = {{"name", "fedavg"}, {"fraction", fraction}, {"sync_every", 2}};
    training.workload = "vgg16";
    training.cluster = small_cluster(kRanks);
    training.cluster.slow_workers = {{1, 1.3}};
    training.steps = 2 * kRounds;
    const Trained by_messages = train(training);
    training.sim.fidelity = Fidelity::fluid;
    const double drawn = std::round(fraction * kRanks);
    const double chunk_s = 4 * static_cast<double>(by_messages.model_priced_numel()) / drawn /
                           training.cluster.inter.bandwidth_Bps;
    EXPECT_NEAR(train(training).seconds(), by_messages.seconds(), (kRounds - 1) * 2 * chunk_s)
        << fraction;
  }
}

}  // namespace
}  // namespace trigram::test::subsets_test
