// The coded average in two levels, against plain loops over all workers, in every world.

#include <gtest/gtest.h>

#include <set>

#include "algorithms/execution/two_level_average.h"
#include "tests/support/codec_testing.h"
#include "tests/support/worlds.h"

namespace trigram::test::two_level_average_test {
namespace {

constexpr std::size_t kNumel = 1003, kWorkers = 2;  // workers of a node
constexpr long kSteps = 5;

Values input(std::size_t rank, long step) {
  return normals(kNumel, 1, 0.3f * static_cast<float>(rank) - 0.1f * static_cast<float>(step));
}

/// Part i of n of a vector, and where it begins.
std::size_t cut(std::size_t numel, std::size_t i, std::size_t n) { return numel * i / n; }
Values part(const Values& x, std::size_t i, std::size_t n) {
  return {x.begin() + static_cast<std::ptrdiff_t>(cut(x.size(), i, n)),
          x.begin() + static_cast<std::ptrdiff_t>(cut(x.size(), i + 1, n))};
}

Values mean(const std::vector<Values>& all) {
  Values sum(all[0].size(), 0.f);
  for (const Values& x : all)
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
  for (float& v : sum) v *= 1.0f / static_cast<float>(all.size());
  return sum;
}

Values decoded(const CodecSpec& codec, const Values& x) { return code(codec, x).decoded; }

/// The workers' moving averages of errors, by worker: of the whole vector, and of its own part.
struct Errors {
  std::vector<Values> inner, outer;
};

/// The codes of the parts of x, which are sent to as many workers; updates the errors, if any.
std::vector<Values> sent_parts(const CodecSpec& codec, Values x, std::size_t parts, Values* error,
                               const TwoLevels& o) {
  std::vector<Values> sent;
  if (error)
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += (*error)[i];
  std::size_t at = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    sent.push_back(decoded(codec, part(x, p, parts)));
    if (!error) continue;
    const auto beta = static_cast<float>(*o.error_decay);
    for (const float value : sent.back()) {
      (*error)[at] = (1 - beta) * (x[at] - value) + beta * (*error)[at];
      ++at;
    }
  }
  if (error) *error = decoded({"minmax_uint8"}, *error);
  return sent;
}

/// What every worker has after a step.
Values average(const std::vector<Values>& inputs, std::size_t nodes, Errors& errors,
               const TwoLevels& o) {
  // By node and worker: the worker's part of the node's mean.
  std::vector<std::vector<Values>> of_node(nodes, std::vector<Values>(kWorkers));
  for (std::size_t n = 0; n < nodes; ++n) {
    std::vector<std::vector<Values>> sent;
    for (std::size_t w = 0; w < kWorkers; ++w) {
      const std::size_t rank = n * kWorkers + w;
      sent.push_back(sent_parts(o.codec, inputs[rank], kWorkers,
                                o.error_decay ? &errors.inner[rank] : nullptr, o));
    }
    for (std::size_t w = 0; w < kWorkers; ++w) {
      std::vector<Values> arrived;
      for (std::size_t from = 0; from < kWorkers; ++from) arrived.push_back(sent[from][w]);
      of_node[n][w] = mean(arrived);
    }
  }
  Values result;
  for (std::size_t w = 0; w < kWorkers; ++w) {
    std::vector<std::vector<Values>> sent;
    for (std::size_t n = 0; n < nodes; ++n) {
      // A single node sends nothing, so nothing is encoded between nodes.
      if (nodes == 1) sent.push_back({of_node[n][w]});
      else
        sent.push_back(sent_parts(o.inter_codec, of_node[n][w], nodes,
                                  o.error_decay ? &errors.outer[n * kWorkers + w] : nullptr, o));
    }
    for (std::size_t n = 0; n < nodes; ++n) {
      std::vector<Values> arrived;
      for (std::size_t from = 0; from < nodes; ++from) arrived.push_back(sent[from][n]);
      for (const float v : decoded(o.gather_codec, nodes == 1 ? arrived[0] : mean(arrived)))
        result.push_back(v);
    }
  }
  return result;
}

void check(const TwoLevels& options) {
  for (const int nodes : {1, 2, 3}) {
    const auto P = static_cast<std::size_t>(nodes) * kWorkers;
    Errors errors;
    Values expected;
    for (long step = 0; step < kSteps; ++step) {
      if (step % options.error_reset == 0) {
        errors.inner.assign(P, Values(kNumel, 0.f));
        errors.outer.clear();
        for (std::size_t rank = 0; rank < P; ++rank)
          errors.outer.push_back(part(Values(kNumel, 0.f), rank % kWorkers, kWorkers));
      }
      std::vector<Values> inputs;
      for (std::size_t rank = 0; rank < P; ++rank) inputs.push_back(input(rank, step));
      const Values result = average(inputs, static_cast<std::size_t>(nodes), errors, options);
      expected.insert(expected.end(), result.begin(), result.end());
    }
    for (const std::string& world : world_names()) {
      if (!world_unavailable(world, static_cast<int>(P)).empty()) continue;
      const auto results = vectors_in_world(world, nodes_of_two(nodes), [&](Context ctx) {
        const Exchange exchange = two_level_average(options, 0);
        Values all;
        for (long step = 0; step < kSteps; ++step) {
          const Tensor x = ctx.device->empty(kNumel);
          ctx.device->upload(x, input(static_cast<std::size_t>(ctx.world_rank), step));
          exchange(ctx, x, {0, step});
          for (const float v : ctx.device->download(x)) all.push_back(v);
        }
        return all;
      });
      ASSERT_EQ(results.size(), P);
      for (const Values& result : results) {
        ASSERT_EQ(result.size(), expected.size());
        for (std::size_t i = 0; i < result.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], 1e-6) << nodes << " nodes, " << world << " " << i;
      }
    }
  }
}

TEST(TwoLevelAverages, AreCodedInsideAndBetweenNodes) {
  check({});
  check({.codec = {"minmax_uint8"},
         .inter_codec = {"int4", {{"block", 64}}},
         .gather_codec = {"fp16"}});
}

TEST(TwoLevelAverages, CompensateErrorsAtBothLevels) {
  check({.gather_codec = {"fp16"}, .error_decay = 0.5, .error_reset = 3});
}

TEST(CodecKeys, DifferByBucketStepAndNumber) {
  std::set<long> uses;
  for (const int bucket : {0, 1, 65535})
    for (const long step : {0L, 1L, 1L << 30})
      for (const int number : {0, 1, 2, 15}) {
        const CodecKey key = codec_key({}, 7, {bucket, step}, number);
        EXPECT_TRUE(uses.insert(key.use).second) << bucket << " " << step << " " << number;
        EXPECT_LT(key.use, 1L << 56);  // what a random key can hold
      }
}

}  // namespace
}  // namespace trigram::test::two_level_average_test
