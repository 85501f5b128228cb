#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "tests/support/training.h"

// The resources needed to simulate a step of BERT-Large on many workers.

namespace trigram::test::bert_scale_test {
namespace {

Training bert_step(int nodes, int workers_per_node) {
  Training training;
  training.algorithm = {
      {"name", "gradient_allreduce"}, {"hierarchical", true}, {"bucket", "10MiB"}};
  training.workload = "bert_large";
  training.cluster.nodes = nodes;
  training.cluster.workers_per_node = workers_per_node;
  training.steps = 1;
  return training;
}

std::uint64_t messages(const Trained& trained) {
  std::uint64_t sum = 0;
  for (const Counters& c : trained.counters) sum += c.messages_intra + c.messages_inter;
  return sum;
}

/// Trains, and prints the time and memory that it took.
Trained measured(const Training& training) {
  const auto start = std::chrono::steady_clock::now();
  Trained trained = train(training);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (trained.counters.empty()) return trained;
  fmt::print(stderr, "{} workers: {} messages, {:.2f} s, {} MiB, {:.4f} simulated s\n",
             training.cluster.ranks(), messages(trained), wall.count(), trained.max_rss_kib / 1024,
             trained.seconds());
  return trained;
}

TEST(BertScale, AStepOn128WorkersNeedsFewMessages) {
  const Trained trained = measured(bert_step(16, 8));
  ASSERT_FALSE(trained.counters.empty());
  EXPECT_LE(messages(trained), 60'000u);
  EXPECT_GT(messages(trained), 10'000u);
}

}  // namespace
}  // namespace trigram::test::bert_scale_test
