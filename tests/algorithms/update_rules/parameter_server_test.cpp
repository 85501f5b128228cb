#include <gtest/gtest.h>

#include "algorithms/registry.h"
#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// The synchronous parameter server, compared with its equations.

namespace trigram::test::parameter_server_test {
namespace {

constexpr float kLr = 0.125f;

class ParameterServerRule : public AffineTest {};

/// x = x - lr 1/P sum_j (slope x + j + 1), in f32, summed in the order of ranks.
float expected_weight(int ranks, long steps, float slope) {
  float x = 1;
  for (long t = 0; t < steps; ++t) {
    float sum = slope * x + 1;
    for (int j = 1; j < ranks; ++j) sum += slope * x + static_cast<float>(j + 1);
    x -= kLr * (1.0f / static_cast<float>(ranks) * sum);
  }
  return x;
}

TEST_P(ParameterServerRule, StepsWithTheMeanGradientToTheLastBit) {
  constexpr float kSlope = 0.3f;  // inexact sums: another order would round differently
  const Json priorities[] = {Json::object(),
                             {{"overlap", false}},
                             {{"priority", "need"}, {"early", 0}},
                             {{"assignment", "djb2"}},
                             {{"assignment", "djb2"}, {"priority", "need"}, {"bucket", "8B"}},
                             {{"priority", "need"}, {"overlap", false}}};
  for (const int ranks : {1, 4, 7, 8})
    for (const Json& servers : {Json("all"), Json(1), Json(3)})
      for (const char* partition : {"4B", "12B", "4096kB"})
        for (const Json& priority : priorities) {
          if (servers.is_number() && servers.get<int>() > ranks) continue;
          Json algorithm = {
              {"name", "parameter_server"}, {"servers", servers}, {"partition", partition}};
          algorithm.update(priority);
          SCOPED_TRACE(testing::Message() << ranks << algorithm);
          const auto ends = train(training(ranks, algorithm, 3, double{kSlope}));
          ASSERT_EQ(ends.size(), static_cast<std::size_t>(ranks));
          for (const AffineEnd& end : ends) {
            ASSERT_EQ(end.weights.size(), 10u);
            for (const float w : end.weights) EXPECT_EQ(w, expected_weight(ranks, 3, kSlope));
          }
        }
}

/// Ranks that only serve affect nothing: their gradients are not part of the mean, and learning
/// rates are scaled by the number of workers.
TEST_P(ParameterServerRule, ServersBesideTheWorkersGiveTheSameWeightsToTheLastBit) {
  constexpr float kSlope = 0.3f;
  const Json modes[] = {Json::object(),
                        {{"overlap", false}, {"partition", "12B"}},
                        {{"partition", "4B"}, {"priority", "need"}, {"early", 0}},
                        {{"partition", "4B"}, {"assignment", "djb2"}}};
  for (const auto& [ranks, servers] : {std::pair{2, 1}, {5, 2}, {8, 1}, {8, 3}, {7, 6}})
    for (const Json& mode : modes) {
      const int workers = ranks - servers;
      Json algorithm = {
          {"name", "parameter_server"}, {"servers", servers}, {"placement", "beside"}};
      algorithm.update(mode);
      SCOPED_TRACE(testing::Message() << ranks << algorithm);
      AffineTraining run = training(ranks, algorithm, 3, double{kSlope});
      run.optimizer = {{"name", "sgd"}, {"lr", double{kLr} / workers}, {"lr_scaling", "linear"}};
      const auto ends = train(run);
      ASSERT_EQ(ends.size(), static_cast<std::size_t>(ranks));
      int trained = 0;
      for (const AffineEnd& end : ends) {
        ASSERT_EQ(end.weights.size(), 10u);
        if (end.weights[0] == 1) continue;  // a server keeps its initial weights
        ++trained;
        for (const float w : end.weights) EXPECT_EQ(w, expected_weight(workers, 3, kSlope));
      }
      EXPECT_EQ(trained, workers);
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, ParameterServerRule, every_named_world(), named_world_test_name);

std::string error_of(const Json& algorithm, const Layout& layout) {
  try {
    const auto& entry = find_component(algorithms(), "algorithm", algorithm, "/algorithm");
    entry.check(resolve_component(algorithms(), "algorithm", algorithm, "/algorithm"), layout,
                "/algorithm");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(ParameterServerOptions, AreRefusedWithTheirPointer) {
  const Layout four(4, 1);
  const auto with = [](const char* key, const Json& value) -> Json {
    return {{"name", "parameter_server"}, {key, value}};
  };
  EXPECT_EQ(error_of(with("servers", 4), four), "");
  EXPECT_EQ(error_of(with("servers", "all"), four), "");
  EXPECT_EQ(error_of(with("servers", 5), four),
            "/algorithm/servers: servers among the workers: expected at most 4 servers, not 5");
  EXPECT_EQ(error_of(with("servers", 0), four),
            "/algorithm/servers: expected an integer of at least 1, not 0");
  const auto beside = [](const Json& servers) -> Json {
    return {{"name", "parameter_server"}, {"servers", servers}, {"placement", "beside"}};
  };
  EXPECT_EQ(error_of(beside(1), four), "");
  EXPECT_EQ(error_of(beside(3), four), "");
  for (const Json& servers : {Json(4), Json(5), Json("all")})
    EXPECT_EQ(error_of(beside(servers), four),
              "/algorithm/servers: 4 ranks, servers beside the workers: expected from 1 to 3 "
              "servers, not " +
                  servers.dump());
  EXPECT_EQ(
      error_of(beside(1), Layout(1, 1)),
      "/algorithm/placement: a single rank cannot have servers beside it; expected \"among\"");
  EXPECT_NE(error_of(with("placement", "besides"), four).find("did you mean \"beside\"?"),
            std::string::npos);
  EXPECT_NE(error_of(with("assignment", "djb"), four).find("did you mean \"djb2\"?"),
            std::string::npos);
  EXPECT_NE(error_of(with("servers", "al"), four).find("did you mean \"all\"?"), std::string::npos);
  EXPECT_EQ(error_of(with("partition", "0B"), four),
            "/algorithm/partition: expected a size of at least 4B, one element, not \"0B\"");
  EXPECT_NE(error_of(with("server", 1), four).find("did you mean \"servers\"?"), std::string::npos);
}

TEST(AsyncParameterServerOptions, AreRefusedWithTheirPointer) {
  const Layout four(4, 1);
  const auto with = [](const char* key, const Json& value) -> Json {
    return {{"name", "async_parameter_server"}, {key, value}};
  };
  EXPECT_EQ(error_of(with("codec", "minmax_uint8"), four), "");
  EXPECT_NE(error_of(with("codec", "minmax_uint"), four).find("did you mean \"minmax_uint8\"?"),
            std::string::npos);
  for (const Json& codec : {Json(nullptr), Json(3), Json{{"name", "none"}}})
    EXPECT_EQ(error_of(with("codec", codec), four),
              "/algorithm/codec: expected \"none\", or a codec by its name, not " + codec.dump());
  EXPECT_NE(error_of(with("codec", "None"), four).find("expected one of none, minmax_uint8, "),
            std::string::npos);
  EXPECT_EQ(error_of(with("servers", 5), four),
            "/algorithm/servers: servers among the workers: expected at most 4 servers, not 5");
  EXPECT_EQ(error_of(with("servers", 0), four),
            "/algorithm/servers: expected an integer of at least 1, not 0");
}

TEST(AdPsgdOptions, AreRefusedWithTheirPointer) {
  EXPECT_EQ(error_of({{"name", "adpsgd"}, {"interval_steps", 0}}, Layout(4, 1)),
            "/algorithm/interval_steps: expected an integer of at least 1, not 0");
}

}  // namespace
}  // namespace trigram::test::parameter_server_test
