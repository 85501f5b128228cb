#include <gtest/gtest.h>

#include "tests/support/idx_files.h"
#include "tests/support/text_files.h"
#include "tests/support/training.h"

// Invariant A: phantom and valued runs of one experiment have bitwise the same simulated times and
// message traces.

namespace trigram::test::invariant_a_test {
namespace {

void expect_equal_event(const Event& a, const Event& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.begin_s, b.begin_s);
  EXPECT_EQ(a.end_s, b.end_s);
  EXPECT_EQ(a.peer, b.peer);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.batch, b.batch);
}

/// Trains with and without values. Compares times, and the traces of ranks up to the first
/// difference.
void expect_same_timing(Training training) {
  training.events = true;
  training.workload["values"] = true;
  const Trained valued = train(training);
  training.workload["values"] = false;
  const Trained phantom = train(training);
  ASSERT_FALSE(valued.weights.empty());
  EXPECT_FALSE(valued.weights[0].empty());
  EXPECT_TRUE(phantom.weights[0].empty());
  EXPECT_EQ(valued.ended_s, phantom.ended_s);
  EXPECT_EQ(valued.buckets, phantom.buckets);
  for (std::size_t rank = 0; rank < valued.events.size(); ++rank) {
    const auto &a = valued.events[rank], &b = phantom.events[rank];
    EXPECT_FALSE(a.empty());
    ASSERT_EQ(a.size(), b.size()) << "events of rank " << rank;
    for (std::size_t i = 0; i < a.size() && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(testing::Message() << "event " << i << " of rank " << rank);
      expect_equal_event(a[i], b[i]);
    }
  }
}

class InvariantA : public ::testing::TestWithParam<NamedAlgorithm> {
 protected:
  Training training(Json workload, int nodes, int workers) const {
    Training training;
    training.algorithm = GetParam().spec;
    training.workload = std::move(workload);
    training.cluster = small_cluster(nodes, workers);
    training.cluster.slow_workers = {{1, 1.3}};
    training.steps = 5;
    return training;
  }
};

TEST_P(InvariantA, LeastSquares) {
  const int nodes = fits(GetParam(), small_cluster(6)) ? 6 : 8;
  expect_same_timing(
      training({{"name", "quadratic"}, {"dimension", 101}, {"noise", 0.5}}, nodes, 1));
}

TEST_P(InvariantA, LeastSquaresPricedAsAProfile) {
  expect_same_timing(training(
      {{"name", "quadratic"}, {"dimension", 101}, {"noise", 0.5}, {"priced_as", "vgg16"}}, 2, 2));
}

TEST_P(InvariantA, ImageClassifiers) {
  const IdxFolder data;
  for (const char* model : {"mlp", "cnn"})
    expect_same_timing(training(
        {{"name", "fashion_mnist"}, {"model", model}, {"batch", 5}, {"data", data.path().string()}},
        2, 2));
}

TEST_P(InvariantA, LanguageModels) {
  const TextFile data;
  for (const char* model : {"transformer", "gru"})
    expect_same_timing(training(data.small_workload(model), 2, 2));
}

TEST_P(InvariantA, UnevenMiniBatches) {
  const TextFile data;
  Json workload = data.balanced_workload("gru");
  expect_same_timing(training(workload, 2, 2));
  workload["priced_as"] = "vgg16";
  expect_same_timing(training(workload, 2, 2));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, InvariantA, ::testing::ValuesIn(every_algorithm()),
                         TestName{});

}  // namespace
}  // namespace trigram::test::invariant_a_test
