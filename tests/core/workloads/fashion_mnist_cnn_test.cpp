#include "tests/core/workloads/fashion_mnist.h"

namespace trigram::fashion_mnist_cnn_test {
namespace {

using test::FashionMnist;
using test::LoneRank;

TEST_F(FashionMnist, CnnLearns) {
  HostDevice host;
  LoneRank rank(host);
  const auto workload = make({{"model", "cnn"}})->make(rank.ctx, 1);
  EXPECT_EQ(workload->weights().numel(), 8u * 9 + 8 + 16 * 72 + 16 + 784 * 10 + 10);
  EXPECT_GT(train(*workload, rank, 600, 0.05f).accuracy.value(), 0.80);
}

}  // namespace
}  // namespace trigram::fashion_mnist_cnn_test
