#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "core/workloads/registry.h"
#include "tests/support/lone_rank.h"

namespace trigram::test {

/// Tests on the data set that Debian packages; skipped if it is not installed.
class FashionMnist : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
      GTEST_SKIP() << "needs the package dataset-fashion-mnist";
  }

  static std::unique_ptr<WorkloadFactory> make(Json options) {
    options["name"] = "fashion_mnist";
    return make_workload_factory(resolve_workload(options, "", "/"), "");
  }

  /// Plain stochastic gradient descent on one rank, each bucket updated when it is reported.
  static Quality train(Workload& workload, LoneRank& rank, int steps, float lr) {
    workload.bucketize(0);
    for (int step = 0; step < steps; ++step) {
      workload.forward(rank.ctx);
      workload.backward(rank.ctx, [&](Bucket& bucket) {
        rank.ctx.device->axpby(-lr, bucket.grad, 1, bucket.weight);
      });
    }
    return workload.evaluate(workload.weights().floats(), kAllSamples);
  }
};

}  // namespace trigram::test
