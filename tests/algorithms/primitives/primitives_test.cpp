#include "algorithms/primitives/primitives.h"
#include "algorithms/execution/hierarchy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "algorithms/peers/registry.h"
#include "tests/oracles/codec_references.h"
#include "tests/support/worlds.h"

// The primitives, compared with plain loops over all ranks' vectors, in every world.

namespace trigram::test::primitives_test {
namespace {

using Vectors = std::vector<std::vector<float>>;  // by rank

/// Vectors that differ between ranks, with both signs and several magnitudes.
Vectors make_inputs(int ranks, std::size_t n) {
  Vectors inputs;
  for (int r = 0; r < ranks; ++r) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i) + r) * (1 + 3 * r));
    inputs.push_back(std::move(x));
  }
  return inputs;
}

std::vector<float> mean(const Vectors& inputs) {
  std::vector<float> result(inputs[0].size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    double sum = 0;
    for (const auto& x : inputs) sum += x[i];
    result[i] = static_cast<float>(sum / static_cast<double>(inputs.size()));
  }
  return result;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 2e-6 * (1 + std::abs(expected[i]))) << "element " << i;
}

/// The result of `primitive` for the inputs, on every rank.
Vectors apply(const std::string& world, const Cluster& cluster, const Vectors& inputs,
              const std::function<void(Context, const Tensor&)>& primitive) {
  return vectors_in_world(world, cluster, [&](Context ctx) {
    const Tensor x = tensor_of(ctx, inputs[static_cast<std::size_t>(ctx.world_rank)]);
    primitive(ctx, x);
    return ctx.device->download(x);
  });
}

class Primitives : public WorldTest {
 protected:
  Vectors apply_flat(const Vectors& inputs,
                     const std::function<void(Context, const Tensor&)>& primitive) {
    return apply(world(), flat_cluster(ranks()), inputs, primitive);
  }
};

TEST_P(Primitives, CentralisedFullPrecisionIsTheMean) {
  for (const std::size_t n : {0u, 1u, 5u, 257u}) {
    const Vectors inputs = make_inputs(ranks(), n);
    for (const auto algorithm : {AllreduceAlgorithm::ring, AllreduceAlgorithm::recursive_doubling,
                                 AllreduceAlgorithm::rabenseifner, AllreduceAlgorithm::double_tree})
      for (const auto& output :
           apply_flat(inputs, [&](Context ctx, const Tensor&x) { c_fp_s(ctx, x, algorithm); }))
        expect_near(output, mean(inputs));
  }
}

/// For each part j: the mean of the decoded codes of all ranks' parts j, encoded and decoded once
/// more.
std::vector<float> compressed_scatter_reduce(const Vectors& inputs) {
  const std::size_t P = inputs.size(), n = inputs[0].size();
  std::vector<float> result;
  for (std::size_t j = 0; j < P; ++j) {
    const std::size_t begin = n * j / P, end = n * (j + 1) / P;
    std::vector<float> sum(end - begin, 0);
    for (const auto& x : inputs) {
      const std::vector<float> part(x.data() + begin, x.data() + end);
      const auto decoded = minmax_uint8_decode(minmax_uint8_encode(part), part.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += decoded[i];
    }
    for (float& s : sum) s *= 1.0f / static_cast<float>(P);
    const auto merged = minmax_uint8_decode(minmax_uint8_encode(sum), sum.size());
    result.insert(result.end(), merged.begin(), merged.end());
  }
  return result;
}

TEST_P(Primitives, CentralisedLowPrecisionIsTheCompressedScatterReduce) {
  for (const std::size_t n : {0u, 1u, 5u, 257u}) {
    const Vectors inputs = make_inputs(ranks(), n);
    const auto outputs = [&](SecondPhase phase2) {
      return apply_flat(inputs, [phase2](Context ctx, const Tensor& x) {
        c_lp_s(ctx, x, *ctx.device->codec({"minmax_uint8"}), phase2);
      });
    };
    const auto expected = ranks() == 1 ? inputs[0] : compressed_scatter_reduce(inputs);
    const Vectors direct = outputs(SecondPhase::direct);
    for (const auto& output : direct) expect_near(output, expected);
    EXPECT_EQ(outputs(SecondPhase::allgather), direct) << "the phases give different results";
  }
}

TEST_P(Primitives, DecentralisedFullPrecisionMixesTheNeighbours) {
  const Vectors inputs = make_inputs(ranks(), 57);
  const auto outputs = apply_flat(inputs, [](Context ctx, const Tensor& x) {
    d_fp_s(ctx, x, make_peer_graph({"ring"})->peers(ctx.rank(), ctx.size(), 0));
  });
  const auto P = static_cast<std::size_t>(ranks());
  for (std::size_t r = 0; r < P; ++r) {
    // If P < 3, these are fewer than three ranks.
    std::set<std::size_t> neighbours = {r, (r + 1) % P, (r + P - 1) % P};
    Vectors mixed;
    for (const std::size_t neighbour : neighbours) mixed.push_back(inputs[neighbour]);
    expect_near(outputs.at(r), mean(mixed));
  }
}

TEST_P(Primitives, DecentralisedLowPrecisionMixesDecodedModels) {
  const Vectors inputs = make_inputs(ranks(), 57);
  const auto outputs = apply_flat(inputs, [](Context ctx, const Tensor& x) {
    d_lp_s(ctx, x, make_peer_graph({"ring"})->peers(ctx.rank(), ctx.size(), 0),
           *ctx.device->codec({"minmax_uint8"}));
  });
  const auto P = static_cast<std::size_t>(ranks());
  for (std::size_t r = 0; r < P; ++r) {
    Vectors mixed;
    for (const std::size_t neighbour : std::set<std::size_t>{r, (r + 1) % P, (r + P - 1) % P})
      mixed.push_back(minmax_uint8_decode(minmax_uint8_encode(inputs[neighbour]), 57));
    expect_near(outputs.at(r), mean(mixed));
  }
}

/// The sums of x and of w over all ranks are conserved, and x / w converges to the mean, on a graph
/// whose ranks receive from different numbers of peers.
TEST_P(Primitives, PushSumConservesMassAndFindsTheMean) {
  Vectors inputs = make_inputs(ranks(), 5);
  for (auto& x : inputs) x.push_back(1);  // w
  const auto pushed = [&](long rounds) {
    return apply_flat(inputs, [rounds](Context ctx, const Tensor& x) {
      for (long t = 0; t < rounds; ++t)
        push_sum(ctx, x, make_peer_graph({"star"})->peers(ctx.rank(), ctx.size(), t));
    });
  };
  for (const auto& output : pushed(60))
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(output[i] / output[5], mean(inputs)[i], 1e-4f) << "element " << i;
  for (const long rounds : {1, 2, 3}) {
    const Vectors outputs = pushed(rounds);
    for (std::size_t i = 0; i < 6; ++i) {
      double before = 0, after = 0;
      for (const auto& x : inputs) before += x[i];
      for (const auto& x : outputs) after += x[i];
      EXPECT_NEAR(after, before, 1e-4) << "element " << i;
    }
    if (ranks() > 2) {
      EXPECT_GT(std::abs(outputs[0][5] - 1), 0.1f) << "the centre gathers weight";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, Primitives, every_world(1, 2, 3, 4, 7), world_test_name);

class Hierarchy : public WorldTest {};

TEST_P(Hierarchy, OfAnAllreduceIsTheMean) {
  for (const int workers : {1, 2, 3}) {
    const Vectors inputs = make_inputs(ranks() * workers, 101);
    Cluster cluster;
    cluster.nodes = ranks();
    cluster.workers_per_node = workers;
    const Exchange average = hierarchical(
        [](Context ctx, const Tensor& x, Slot) { c_fp_s(ctx, x, AllreduceAlgorithm::ring); });
    const auto once = [&](Context ctx, const Tensor& x) { average(ctx, x, {}); };
    for (const auto& output : apply(world(), cluster, inputs, once))
      expect_near(output, mean(inputs));
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Hierarchy, every_world(1, 2, 3, 4), world_test_name);

TEST(ShiftOne, PairsTheStatedRanks) {
  const auto graph = make_peer_graph({"shift_one"});
  for (const int m : {2, 4, 8, 10, 16})
    for (long step = 0; step < 3 * m; ++step)
      for (int r = 0; r < m; ++r) {
        const int half = m / 2;
        const int expected = r < half ? static_cast<int>((step + r) % half) + half
                                      : static_cast<int>((r - half + half * step - step) % half);
        const Peers peers = graph->peers(r, m, step);
        ASSERT_EQ(peers.send_to, std::vector<int>{expected});
        ASSERT_EQ(peers.receive_from.size(), 1u);
        EXPECT_EQ(peers.receive_from[0].rank, expected);
        EXPECT_EQ(peers.self_weight, 0.5f);
        EXPECT_EQ(peers.receive_from[0].weight, 0.5f);
        EXPECT_EQ(graph->peers(expected, m, step).send_to, std::vector<int>{r});
      }
}

}  // namespace
}  // namespace trigram::test::primitives_test
