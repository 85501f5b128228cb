#include <gtest/gtest.h>

#include "tests/support/training.h"

namespace trigram::test::bert_memory_slow_test {
namespace {

/// A step of BERT-Large with 1,024 phantom workers fits into 1 GiB.
TEST(BertMemory, AStepOn1024WorkersFitsIntoOneGibibyte) {
  Training training;
  training.algorithm = {
      {"name", "gradient_allreduce"}, {"hierarchical", true}, {"bucket", "10MiB"}};
  training.workload = "bert_large";
  training.cluster.nodes = 128;
  training.cluster.workers_per_node = 8;
  training.steps = 1;
  const Trained trained = train(training);
  ASSERT_EQ(trained.counters.size(), 1024u);
  EXPECT_EQ(trained.model_priced_numel(), 334'094'338u);
  EXPECT_GT(trained.max_rss_kib, 0);
  EXPECT_LT(trained.max_rss_kib, 1 << 20);
}

}  // namespace
}  // namespace trigram::test::bert_memory_slow_test
