// Algorithms one after another (algorithms/stages.cpp).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/registry.h"
#include "tests/support/affine_training.h"
#include "tests/support/training.h"

namespace trigram::test::stages_test {
namespace {

using ::testing::HasSubstr;

/// The stages of `algorithms`, each of which lasts until its step; the last lasts until the end.
Json stages(const std::vector<std::pair<long, Json>>& until, const Json& last) {
  Json list = Json::array();
  for (const auto& [step, algorithm] : until)
    list.push_back({{"until", step}, {"algorithm", algorithm}});
  list.push_back({{"algorithm", last}});
  return {{"name", "stages"}, {"stages", list}};
}

Training training_of(const Json& algorithm, const std::string& world = "sim") {
  Training training;
  training.world = world;
  training.algorithm = algorithm;
  training.cluster = small_cluster(3, 1);
  training.workload = {
      {"name", "quadratic"}, {"dimension", 37}, {"tensors", 5}, {"heterogeneity", 0.5}};
  training.optimizer = {{"name", "adam"}, {"lr", 0.05}, {"decay", "cosine"}};
  training.steps = 8;
  return training;
}

class Stages : public NamedWorldTest {
 protected:
  static void expect_equal_weights(const Json& one, const Json& other) {
    SCOPED_TRACE(one.dump() + "\n" + other.dump());
    const Trained expected = train(training_of(one, GetParam()));
    const Trained actual = train(training_of(other, GetParam()));
    ASSERT_FALSE(expected.weights.empty());
    EXPECT_EQ(expected.weights, actual.weights);
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, Stages, every_named_world(), named_world_test_name);

/// The state of the optimizer, its learning rates, and the data go on. Three workers: a mean of
/// equal models would have rounding errors.
TEST_P(Stages, OfOneAlgorithmAreOneRun) {
  for (const Json& algorithm :
       {Json{{"name", "gradient_allreduce"}},
        Json{{"name", "gradient_allreduce"}, {"bucket", "0B"}},
        Json{{"name", "parameter_server"}, {"servers", 2}}, Json{{"name", "signsgd_majority"}},
        Json{{"name", "local_sgd"}, {"sync_every", 2}}}) {
    expect_equal_weights(algorithm, stages({{4, algorithm}}, algorithm));
    expect_equal_weights(algorithm, stages({{2, algorithm}, {6, algorithm}}, algorithm));
    expect_equal_weights(algorithm, stages({}, algorithm));
  }
}

/// Buckets that change in the middle of a run do not change the weights. Recursive doubling adds
/// the four gradients of an element in the same order in every bucket.
TEST_P(Stages, MayHaveOtherBuckets) {
  const auto in_buckets = [](const char* size) {
    return Json{
        {"name", "gradient_allreduce"}, {"allreduce", "recursive_doubling"}, {"bucket", size}};
  };
  for (const Json& optimizer : {Json{{"name", "sgd"}, {"lr", 0.01}, {"momentum", 0.9}},
                                Json{{"name", "adam"}}, Json{{"name", "lamb"}}}) {
    SCOPED_TRACE(optimizer);
    const auto trained = [&](const Json& algorithm) {
      Training training = training_of(algorithm, GetParam());
      training.cluster = small_cluster(4, 1);
      training.optimizer = optimizer;
      return train(training);
    };
    const Trained one = trained(in_buckets("1MiB")),
                  several = trained(
                      stages({{3, in_buckets("1MiB")}, {6, in_buckets("0B")}}, in_buckets("64B")));
    ASSERT_EQ(one.buckets.size(), 1u);
    ASSERT_GT(several.buckets.size(), 1u);
    EXPECT_EQ(one.weights, several.weights);
  }
}

TEST_P(Stages, OfGradientsAndModelsArePostLocalSgd) {
  const Json local = {{"name", "local_sgd"}, {"sync_every", 2}};
  expect_equal_weights({{"name", "post_local_sgd"}, {"switch_step", 3}, {"sync_every", 2}},
                       stages({{3, "gradient_allreduce"}}, local));
}

TEST_P(Stages, OfGradientsAndMomentsAreOneBitAdam) {
  expect_equal_weights(
      {{"name", "onebit_adam"}, {"warmup_steps", 3}},
      stages({{3, "gradient_allreduce"}}, {{"name", "onebit_adam"}, {"warmup_steps", 0}}));
}

/// The state of local SGD with sync_every 3 after 4 of 7 steps: the models have been averaged once
/// and then differ, so they are averaged at the switch, from which the steps count anew.
TEST_P(Stages, AverageModelsThatDifferAtASwitch) {
  constexpr double kLr = 0.125, kSlope = 0.5;
  constexpr int kRanks = 4;
  std::vector<double> x(kRanks, 1);
  for (int t = 0; t < 7; ++t) {
    for (int r = 0; r < kRanks; ++r) x[r] -= kLr * (kSlope * x[r] + r + 1);
    if (t == 2 || t == 3 || t == 6) x.assign(kRanks, mean(x));
  }
  const Json local = {{"name", "local_sgd"}, {"sync_every", 3}};
  expect_near(common_weights(train(AffineTraining{.world = GetParam(),
                                                  .cluster = flat_cluster(kRanks),
                                                  .algorithm = stages({{4, local}}, local),
                                                  .steps = 7,
                                                  .slope = kSlope,
                                                  .lr = kLr})),
              x);
}

bool have_equal_models(const Trained& trained) {
  return std::ranges::all_of(trained.weights,
                             [&](const auto& weights) { return weights == trained.weights[0]; });
}

/// Models that are said to be equal after an exchange are equal, to the last bit.
TEST(StagesInTheSimulator, KnowWhichModelsAreEqual) {
  int equal = 0;
  for (const NamedAlgorithm& algorithm : deterministic_algorithms()) {
    Training training = training_of(algorithm.spec);
    training.cluster = small_cluster(2, 2);
    const auto& entry = find_component(algorithms(), "algorithm", algorithm.spec, "");
    if (entry.own_models || entry.name == "stages" || !fits(algorithm, training.cluster)) continue;
    if (workers_of(training).size() < 4) continue;
    ++equal;
    EXPECT_TRUE(have_equal_models(train(training))) << algorithm.name;
  }
  EXPECT_GT(equal, 20);
}

/// Every algorithm can end in the middle of a run, and begin there, in any world.
TEST_P(Stages, OfEveryAlgorithmEndAndBegin) {
  for (const NamedAlgorithm& algorithm : every_algorithm()) {
    if (algorithm.spec.at("name") == "stages") continue;
    Json smaller = algorithm.spec;  // with other buckets, if it has this option
    const auto& entry = find_component(algorithms(), "algorithm", algorithm.spec, "");
    if (entry.execution_options.find('F') != std::string::npos) smaller["bucket"] = "0B";
    Training training = training_of(stages({{2, algorithm.spec}}, smaller), GetParam());
    training.cluster = small_cluster(2, 2);
    training.steps = 4;
    if (!fits({algorithm.name, training.algorithm}, training.cluster)) continue;
    SCOPED_TRACE(algorithm.name);
    const Trained trained = train(training);
    ASSERT_EQ(trained.weights.size(), 4u);
    for (const int rank : workers_of(training))
      EXPECT_TRUE(std::ranges::all_of(trained.weights[static_cast<std::size_t>(rank)],
                                      [](float w) { return std::isfinite(w); }));
  }
}

std::string error_of(const Json& algorithm) {
  try {
    const Json resolved = resolve_component(algorithms(), "algorithm", algorithm, "/algorithm");
    find_component(algorithms(), "algorithm", algorithm, "")
        .check(resolved, Layout(2, 2), "/algorithm");
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(StagesInConfigurations, AreChecked) {
  const Json sync = "gradient_allreduce";
  EXPECT_EQ(error_of(stages({{3, sync}, {5, "local_sgd"}}, sync)), "");
  EXPECT_THAT(error_of("stages"), HasSubstr("/algorithm/stages: missing"));
  EXPECT_THAT(error_of(stages({{3, sync}, {3, sync}}, sync)),
              HasSubstr("/algorithm/stages/1/until: expected more than 3"));
  EXPECT_THAT(error_of({{"name", "stages"}, {"stages", Json::array()}}),
              HasSubstr("/algorithm/stages: expected 1 to 5 stages, not 0"));
  Json unended = stages({{3, sync}}, sync);
  unended["stages"][0].erase("until");
  EXPECT_THAT(error_of(unended), HasSubstr("/algorithm/stages/0/until: missing"));
  Json ended = stages({{3, sync}}, sync);
  ended["stages"][1]["until"] = 5;
  EXPECT_THAT(error_of(ended), HasSubstr("/algorithm/stages/1/until: the last stage"));
  EXPECT_THAT(error_of(stages({{3, sync}}, "local_sdg")),
              HasSubstr("/algorithm/stages/1/algorithm: "));
  EXPECT_THAT(error_of(stages({{3, sync}}, stages({}, sync))),
              HasSubstr("/algorithm/stages/1/algorithm: stages cannot be inside stages"));
  EXPECT_THAT(error_of(stages({{3, sync}}, {{"name", "parameter_server"}, {"servers", 9}})),
              HasSubstr("/algorithm/stages/1/algorithm/servers: "));
  EXPECT_THAT(
      error_of(stages({{3, sync}},
                      {{"name", "parameter_server"}, {"servers", 1}, {"placement", "beside"}})),
      HasSubstr("/algorithm/stages/1/algorithm: expected the same workers"));
}

}  // namespace
}  // namespace trigram::test::stages_test
