// The collectives that consist of transfers do what their names say.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/double_tree.h"
#include "core/subset.h"
#include "tests/support/collectives.h"

namespace trigram::test {
namespace {

class Collectives : public CollectivesTest {};
INSTANTIATE_TEST_SUITE_P(Conformance11, Collectives, every_variant(1, 2, 3, 4, 7, 8),
                         world_test_name);

TEST_P(Collectives, RingAllreduce) {
  for_each_length(
      [](Context ctx, std::size_t n) { expect_allreduces(ctx, n, AllreduceAlgorithm::ring); });
}

TEST_P(Collectives, ChannelledRingAllreduce) {
  for (const Rings rings : {Rings{3}, Rings{2}, Rings{5}, Rings{.segment_bytes = 1000},
                            Rings{.channels = 2, .segment_bytes = 4000}})
    for_each_length([&](Context ctx, std::size_t n) {
      expect_allreduces(ctx, n, {AllreduceAlgorithm::ring, rings});
    });
}

/// Slices affect only the time at which a chunk is sent. The order of additions stays the same, so
/// sums are equal to the last bit.
TEST_P(Collectives, SlicesLeaveSumsAsTheyAreToTheLastBit) {
  run([](Context ctx) {
    const auto averaged = [&](const Rings& rings) {
      const Tensor x = unique_tensor(ctx, 1003, ctx.rank());
      ctx.device->axpby(1e-3f / 7, x, 0,
                        x);  // fractions, whose sums depend on the order of additions
      allreduce(ctx, x, Reduce::avg, {AllreduceAlgorithm::ring, rings});
      return ctx.device->download(x);
    };
    const auto plain = averaged({});
    for (const std::size_t slice : {4, 100}) {
      EXPECT_EQ(averaged({.slice_bytes = slice}), plain);
      EXPECT_EQ(averaged({.channels = 3, .slice_bytes = slice}), averaged({.channels = 3}));
    }
  });
}

TEST_P(Collectives, RecursiveDoublingAllreduce) {
  for_each_length([](Context ctx, std::size_t n) {
    expect_allreduces(ctx, n, AllreduceAlgorithm::recursive_doubling);
  });
}

TEST_P(Collectives, RabenseifnerAllreduce) {
  for_each_length([](Context ctx, std::size_t n) {
    expect_allreduces(ctx, n, AllreduceAlgorithm::rabenseifner);
  });
}

TEST_P(Collectives, DoubleTreeAllreduce) {
  for_each_length([](Context ctx, std::size_t n) {
    expect_allreduces(ctx, n, AllreduceAlgorithm::double_tree);
  });
}

/// Chunks of 1 kB, so that each tree has many of them.
TEST_P(Collectives, DoubleTreeAllreduceInChunks) {
  run([](Context ctx) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{10007}})
      for (Reduce op : {Reduce::sum, Reduce::avg, Reduce::max}) {
        const Tensor x = unique_tensor(ctx, n, ctx.rank());
        double_tree_allreduce(ctx, x, op, {.chunk_bytes = 1000});
        expect_reduced(ctx, x, 0, op, ctx.size());
      }
  });
}

/// Up to 24 ranks, with values that are small enough for exact sums.
TEST_P(Collectives, DoubleTreesOverNodesOfSeveralWorkers) {
  run_in_world(world(), multi_worker_nodes(ranks()), [](Context ctx) {
    std::vector<float> values(1003);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((ctx.rank() + 1) * static_cast<int>(i));
    const Tensor x = ctx.device->empty(values.size());
    ctx.device->upload(x, std::as_bytes(std::span(values)));
    double_tree_allreduce(ctx, x, Reduce::sum, {.chunk_bytes = 400});
    const auto sums = ctx.device->download(x);
    const int of_ranks = ctx.size() * (ctx.size() + 1) / 2;
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(sums[i], static_cast<float>(of_ranks * static_cast<int>(i))) << "element " << i;
  });
}

TEST_P(Collectives, DoubleTreesOfSubsets) {
  run([](Context ctx) {
    std::vector<int> members;  // every other rank, in descending order
    for (int r = ctx.size() - 1; r >= 0; --r)
      if ((ctx.size() - 1 - r) % 2 == 0) members.push_back(r);
    if ((ctx.size() - 1 - ctx.rank()) % 2 != 0) return;
    Subset subset(*ctx.comm, members);
    const Tensor x = unique_tensor(ctx, 1003, ctx.rank());
    double_tree_allreduce(ctx.with(subset), x, Reduce::max, {.chunk_bytes = 400});
    expect_unique_values(ctx, x, ctx.size() - 1);
  });
}

TEST_P(Collectives, NcclAllreduce) {
  for_each_length(
      [](Context ctx, std::size_t n) { expect_allreduces(ctx, n, AllreduceAlgorithm::nccl); });
}

using ReduceScatter = void (*)(Context, const Tensor&, Reduce);

void expect_reduce_scatters(Context ctx, std::size_t n, ReduceScatter reduce_scatter) {
  const auto rank = static_cast<std::size_t>(ctx.rank()), of = static_cast<std::size_t>(ctx.size());
  for (Reduce op : {Reduce::sum, Reduce::avg, Reduce::max}) {
    const Tensor x = unique_tensor(ctx, n, ctx.rank());
    reduce_scatter(ctx, x, op);
    expect_reduced(ctx, x.part(rank, of), n * rank / of, op, ctx.size());
  }
}

TEST_P(Collectives, RingReduceScatter) {
  for_each_length(
      [](Context ctx, std::size_t n) { expect_reduce_scatters(ctx, n, ring_reduce_scatter); });
}

TEST_P(Collectives, RecursiveHalvingReduceScatter) {
  for_each_length([](Context ctx, std::size_t n) {
    expect_reduce_scatters(ctx, n, recursive_halving_reduce_scatter);
  });
}

void expect_allgathers(Context ctx, std::size_t n, void (*allgather)(Context, const Tensor&)) {
  const auto rank = static_cast<std::size_t>(ctx.rank()), of = static_cast<std::size_t>(ctx.size());
  const Tensor x = ctx.device->empty(n), whole = unique_tensor(ctx, n, 5);
  ctx.device->fill(x, -1);
  ctx.device->copy(x.part(rank, of), whole.part(rank, of));
  allgather(ctx, x);
  expect_unique_values(ctx, x, 5);
}

TEST_P(Collectives, RingAllgather) {
  for_each_length([](Context ctx, std::size_t n) {
    expect_allgathers(ctx, n, [](Context c, const Tensor& x) { ring_allgather(c, x); });
  });
}

TEST_P(Collectives, RecursiveDoublingAllgather) {
  for_each_length(
      [](Context ctx, std::size_t n) { expect_allgathers(ctx, n, recursive_doubling_allgather); });
}

/// Rank r contributes 10 r elements.
void expect_gathers_unequal_parts(Context ctx,
                                  void (*allgather)(Context, std::span<const Tensor>)) {
  std::vector<Tensor> parts;
  for (int r = 0; r < ctx.size(); ++r)
    parts.push_back(
        unique_tensor(ctx, 10 * static_cast<std::size_t>(r), r == ctx.rank() ? r : ctx.size()));
  allgather(ctx, parts);
  for (int r = 0; r < ctx.size(); ++r)
    expect_unique_values(ctx, parts[static_cast<std::size_t>(r)], r);
}

TEST_P(Collectives, RingAllgatherOfUnequalParts) {
  run([](Context ctx) { expect_gathers_unequal_parts(ctx, ring_allgather); });
}

TEST_P(Collectives, DirectAllgatherOfUnequalParts) {
  run([](Context ctx) { expect_gathers_unequal_parts(ctx, direct_allgather); });
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  for_each_length([](Context ctx, std::size_t n) {
    for (int root = 0; root < ctx.size(); ++root) {
      const Tensor x = unique_tensor(ctx, n, ctx.rank());
      binomial_broadcast(ctx, x, root);
      expect_unique_values(ctx, x, root);
    }
  });
}

TEST_P(Collectives, PipelinedBroadcastInAnyNumberOfSegments) {
  for_each_length([](Context ctx, std::size_t n) {
    for (int segments : {1, 3, 50}) {
      const int root = (segments + 1) % ctx.size();
      const Tensor x = unique_tensor(ctx, n, ctx.rank());
      pipelined_broadcast(ctx, x, root, segments);
      expect_unique_values(ctx, x, root);
    }
  });
}

TEST_P(Collectives, ReduceToEveryRoot) {
  for_each_length([](Context ctx, std::size_t n) {
    for (int root = 0; root < ctx.size(); ++root) {
      const Tensor x = unique_tensor(ctx, n, ctx.rank());
      binomial_reduce(ctx, x, root % 2 == 0 ? Reduce::sum : Reduce::max, root);
      if (ctx.rank() == root)
        expect_reduced(ctx, x, 0, root % 2 == 0 ? Reduce::sum : Reduce::max, ctx.size());
    }
  });
}

TEST_P(Collectives, PipelinedReduceInAnyNumberOfSegments) {
  for_each_length([](Context ctx, std::size_t n) {
    for (int segments : {1, 3, 50}) {
      const int root = (segments + 1) % ctx.size();
      const Tensor x = unique_tensor(ctx, n, ctx.rank());
      pipelined_reduce(ctx, x, segments == 3 ? Reduce::max : Reduce::sum, root, segments);
      if (ctx.rank() == root)
        expect_reduced(ctx, x, 0, segments == 3 ? Reduce::max : Reduce::sum, ctx.size());
    }
  });
}

TEST_P(Collectives, PipelinedOfUnlikeTensors) {
  run([](Context ctx) {
    for (int root = 0; root < ctx.size(); ++root) {
      std::vector<Tensor> broadcast, reduced;
      for (const std::size_t n : {7u, 0u, 1u, 300u, 41u}) {
        broadcast.push_back(unique_tensor(ctx, n, ctx.rank()));
        reduced.push_back(unique_tensor(ctx, n, ctx.rank()));
      }
      pipelined_broadcast(ctx, broadcast, root);
      pipelined_reduce(ctx, reduced, Reduce::sum, root);
      for (std::size_t i = 0; i < reduced.size(); ++i) {
        expect_unique_values(ctx, broadcast[i], root);
        if (ctx.rank() == root) expect_reduced(ctx, reduced[i], 0, Reduce::sum, ctx.size());
      }
    }
  });
}

TEST_P(Collectives, AlltoallOfUnequalLengths) {
  run([](Context ctx) {
    std::vector<Tensor> send, recv;  // from r to s: 7 r + s elements
    for (int peer = 0; peer < ctx.size(); ++peer) {
      const int self = ctx.rank();
      send.push_back(
          unique_tensor(ctx, static_cast<std::size_t>(7 * self + peer), 10 * self + peer));
      recv.push_back(ctx.device->empty(static_cast<std::size_t>(7 * peer + self)));
    }
    direct_alltoall(ctx, send, recv);
    for (int peer = 0; peer < ctx.size(); ++peer)
      expect_unique_values(ctx, recv[static_cast<std::size_t>(peer)], 10 * peer + ctx.rank());
  });
}

TEST_P(Collectives, WorkOnSubsetsAndOnForkedStreams) {
  run([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    const Tensor on_main = unique_tensor(ctx, 1000, ctx.rank());
    const Tensor on_comm = unique_tensor(ctx, 1000, ctx.rank());
    auto work =
        comm->submit(ctx, [&](Context c) { rabenseifner_allreduce(c, on_comm, Reduce::sum); });
    std::vector<int> members;  // ranks of the same half
    const int half = ctx.size() / 2;
    for (int r = 0; r < ctx.size(); ++r)
      if ((r < half) == (ctx.rank() < half)) members.push_back(r);
    Subset subset(*ctx.comm, members);
    ring_allreduce(ctx.with(subset), on_main, Reduce::max);
    ctx.stream->wait(*work);
    expect_unique_values(ctx, on_main, members.back());
    expect_reduced(ctx, on_comm, 0, Reduce::sum, ctx.size());
  });
}

TEST_P(Collectives, AcceptPhantoms) {
  run([](Context ctx) {
    const Tensor x = Tensor::phantom(1000, DType::f32, 1000);
    ring_allgather(ctx, x);
    recursive_doubling_allgather(ctx, x);
    binomial_broadcast(ctx, x, 0);
    pipelined_broadcast(ctx, x, 0, 4);
    EXPECT_TRUE(x.is_phantom());
  });
}

}  // namespace
}  // namespace trigram::test
