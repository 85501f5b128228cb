#include "tests/support/affine_training.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "algorithms/registry.h"
#include "core/optimizers/registry.h"
#include "tests/support/affine_workload.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

std::string to_bytes(const Steps::Staleness& staleness, std::span<const float> weights) {
  std::string bytes(reinterpret_cast<const char*>(&staleness), sizeof staleness);
  return bytes.append(reinterpret_cast<const char*>(weights.data()), weights.size_bytes());
}

AffineEnd from_bytes(const std::string& bytes) {
  AffineEnd end;
  EXPECT_GE(bytes.size(), sizeof end.staleness);
  if (bytes.size() < sizeof end.staleness) return end;
  std::memcpy(&end.staleness, bytes.data(), sizeof end.staleness);
  end.weights.resize((bytes.size() - sizeof end.staleness) / sizeof(float));
  std::memcpy(end.weights.data(), bytes.data() + sizeof end.staleness,
              end.weights.size() * sizeof(float));
  return end;
}

}  // namespace

std::vector<AffineEnd> train(const AffineTraining& training) {
  const auto& entry = find_component(algorithms(), "algorithm", training.algorithm, "");
  const Json resolved =
      component_options(resolve_component(algorithms(), "algorithm", training.algorithm, ""));
  const auto results = results_in_world(training.world, training.cluster, [&](Context ctx) {
    AffineWorkload workload(ctx, training.numel, static_cast<float>(training.slope));
    workload.tilt = static_cast<float>(training.tilt);
    workload.bucketize(0);
    const auto& sgd = find_component(optimizers(), "optimizer", Json("sgd"), "");
    auto optimizer =
        sgd.make(sgd.resolve({{"lr", training.lr}}, ""), ctx, workload, training.steps);
    Steps steps(training.steps);
    Run run{workload, *optimizer, steps, entry.execution(resolved)};
    entry.make(resolved)->train(ctx, run);
    return to_bytes(steps.take_staleness(), workload.weights().floats());
  });
  std::vector<AffineEnd> ends;
  for (const std::string& bytes : results) ends.push_back(from_bytes(bytes));
  return ends;
}

std::vector<double> common_weights(const std::vector<AffineEnd>& ends) {
  std::vector<double> weights;
  for (const AffineEnd& end : ends) {
    for (const float w : end.weights) EXPECT_NEAR(w, end.weights[0], 1e-5);
    weights.push_back(end.weights.at(0));
  }
  return weights;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t r = 0; r < actual.size(); ++r)
    EXPECT_NEAR(actual[r], expected[r], 1e-5) << "rank " << r;
}

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

}  // namespace trigram::test
