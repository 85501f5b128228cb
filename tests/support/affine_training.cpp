#include "tests/support/affine_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "algorithms/registry.h"
#include "core/optimizers/clipped.h"
#include "core/optimizers/registry.h"
#include "netmodels/planned_membership.h"
#include "tests/support/affine_workload.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

std::string to_bytes(const Steps::Staleness& staleness, std::span<const float> path,
                     std::span<const float> weights) {
  std::string bytes(reinterpret_cast<const char*>(&staleness), sizeof staleness);
  bytes.append(reinterpret_cast<const char*>(path.data()), path.size_bytes());
  return bytes.append(reinterpret_cast<const char*>(weights.data()), weights.size_bytes());
}

AffineEnd from_bytes(const std::string& bytes, const AffineTraining& training) {
  AffineEnd end;
  std::vector<float> numbers(static_cast<std::size_t>(training.steps) + training.numel);
  const std::size_t expected = sizeof end.staleness + numbers.size() * sizeof(float);
  EXPECT_EQ(bytes.size(), expected);
  if (bytes.size() != expected) return end;
  std::memcpy(&end.staleness, bytes.data(), sizeof end.staleness);
  std::memcpy(numbers.data(), bytes.data() + sizeof end.staleness, numbers.size() * sizeof(float));
  end.path.assign(numbers.begin(), numbers.begin() + training.steps);
  end.weights.assign(numbers.begin() + training.steps, numbers.end());
  return end;
}

}  // namespace

std::vector<AffineEnd> train(const AffineTraining& training) {
  const auto& entry = find_component(algorithms(), "algorithm", training.algorithm, "");
  const Json resolved =
      component_options(resolve_component(algorithms(), "algorithm", training.algorithm, ""));
  const Workers workers = entry.workers(resolved, training.cluster.layout());
  PlannedMembership membership(training.cluster.failures, training.cluster.nodes,
                               training.cluster.workers_per_node);
  const auto results = results_in_world(training.world, training.cluster, [&](Context ctx) {
    AffineWorkload workload(workers.worker_context(ctx), training.numel,
                            static_cast<float>(training.slope));
    workload.tilt = static_cast<float>(training.tilt);
    workload.alternating = training.alternating;
    workload.priced_samples = training.priced_samples;
    workload.forward_s = workload.backward_s = training.compute_s;
    workload.bucketize(0);
    const auto start = static_cast<float>(ctx.world_rank);
    if (training.start_at_rank) ctx.device->fill(workload.weights(), start);
    std::vector<float> path;
    Steps::Hooks hooks;
    Steps* made = nullptr;  // set below
    hooks.end = [&](long) {
      path.push_back(made->take_absence() ? std::numeric_limits<float>::quiet_NaN()
                                          : workload.weights().floats()[0]);
    };
    if (workers.include(ctx.world_rank))
      hooks.begin = [&](long t) {
        if (training.delay) ctx.stream->sleep_for(training.delay(ctx.world_rank, t));
        const double slowdown = training.slowdown ? training.slowdown(ctx.world_rank, t) : 1;
        workload.forward_s = workload.backward_s = slowdown * training.compute_s;
      };
    Steps steps(training.steps, hooks);
    made = &steps;
    const Json choice = training.optimizer.is_null() ? Json{{"name", "sgd"}, {"lr", training.lr}}
                                                     : training.optimizer;
    auto optimizer = find_component(optimizers(), "optimizer", choice, "")
                         .make(resolve_component(optimizers(), "optimizer", choice, ""),
                               workers.worker_context(ctx), workload, training.steps);
    if (std::isfinite(training.clip_norm))
      optimizer = clipped(std::move(optimizer), workload, training.clip_norm);
    Run run{workload, *optimizer, steps, entry.traits(resolved).execution};
    if (training.carries_on) run.membership = &membership;
    entry.make(resolved)->train(ctx, run);
    return to_bytes(steps.take_staleness(), path, workload.weights().floats());
  });
  std::vector<AffineEnd> ends;
  for (const std::string& bytes : results) ends.push_back(from_bytes(bytes, training));
  return ends;
}

std::vector<std::vector<float>> weights_of(const std::vector<AffineEnd>& ends) {
  std::vector<std::vector<float>> weights;
  for (const AffineEnd& end : ends) weights.push_back(end.weights);
  return weights;
}

std::vector<double> common_weights(const std::vector<AffineEnd>& ends) {
  std::vector<double> weights;
  for (const AffineEnd& end : ends) {
    for (const float w : end.weights) EXPECT_NEAR(w, end.weights[0], 1e-5);
    weights.push_back(end.weights.at(0));
  }
  return weights;
}

std::vector<std::vector<double>> paths(const std::vector<AffineEnd>& ends) {
  std::vector<std::vector<double>> by_step(ends.empty() ? 0 : ends[0].path.size());
  for (const AffineEnd& end : ends)
    for (std::size_t t = 0; t < by_step.size(); ++t) by_step[t].push_back(double{end.path.at(t)});
  return by_step;
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
