#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/device/timed_device.h"
#include "core/optimizers/registry.h"
#include "core/optimizers/schedule.h"
#include "tests/support/config_errors.h"
#include "tests/support/lone_rank.h"

namespace trigram::test::optimizers_test {
namespace {

using ::testing::StartsWith;

// A workload with two buckets of weights and no data.
class TwoBuckets final : public Workload {
 public:
  explicit TwoBuckets(Device& device) {
    for (int i = 0; i < 2; ++i) {
      const std::size_t n = i == 0 ? 3 : 5;
      buckets_.push_back(
          {i, device.empty(n, DType::f32, 100 * n), device.empty(n, DType::f32, 100 * n)});
      device.fill(buckets_.back().weight, 1);
    }
  }
  void bucketize(const BucketSizes&) override {}
  std::span<Bucket> buckets() override { return buckets_; }
  Tensor weights() override { return {}; }
  Tensor gradients() override { return {}; }
  void forward(Context) override {}
  void backward(Context, const std::function<void(Bucket&)>&) override {}
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }

 private:
  std::vector<Bucket> buckets_;
};

// A gradient that differs by element, bucket and step.
double gradient(std::size_t element, int bucket, long step) {
  return std::sin(1.0 + static_cast<double>(element) + 10.0 * bucket +
                  0.7 * static_cast<double>(step));
}

class OptimizerTest : public testing::Test {
 protected:
  std::unique_ptr<Optimizer> make(const Json& reference, long steps = 100) {
    const Json resolved = resolve_component(optimizers(), "optimizer", reference, "/optimizer");
    return find_component(optimizers(), "optimizer", reference, "")
        .make(component_options(resolved), rank.ctx, workload, steps);
  }
  // Steps both buckets 20 times and compares with `reference(w, g, t, state)`, where t is 1 in the
  // first step.
  template <class State, class Reference>
  void expect_follows(const Json& config, const Reference& reference) {
    auto optimizer = make(config);
    for (Bucket& bucket : workload.buckets()) {
      std::vector<State> states(bucket.weight.numel());
      std::vector<double> weights(bucket.weight.numel(), 1.0);
      for (long t = 0; t < 20; ++t) {
        for (std::size_t i = 0; i < weights.size(); ++i) {
          const double g = gradient(i, bucket.index, t);
          bucket.grad.floats()[i] = static_cast<float>(g);
          reference(weights[i], g, t + 1, states[i]);
        }
        optimizer->step(rank.ctx, bucket);
        for (std::size_t i = 0; i < weights.size(); ++i) {
          ASSERT_NEAR(bucket.weight.floats()[i], weights[i], 2e-6) << "step " << t;
        }
      }
    }
  }
  HostDevice host;
  LoneRank rank{host, 0, 4};
  TwoBuckets workload{host};
};

struct NoState {};
struct Momentum {
  double m = 0;
};
struct Moments {
  double m = 0, v = 0;
};

TEST_F(OptimizerTest, Sgd) {
  expect_follows<NoState>({{"name", "sgd"}, {"lr", 0.05}, {"weight_decay", 0.1}},
                          [](double& w, double g, long, NoState&) { w -= 0.05 * (g + 0.1 * w); });
}

TEST_F(OptimizerTest, SgdWithMomentum) {
  expect_follows<Momentum>({{"name", "sgd"}, {"lr", 0.05}, {"momentum", 0.9}},
                           [](double& w, double g, long, Momentum& s) {
                             s.m = 0.9 * s.m + g;
                             w -= 0.05 * s.m;
                           });
}

TEST_F(OptimizerTest, Adam) {
  const Json config = {{"name", "adam"}, {"lr", 0.01},          {"beta1", 0.8},
                       {"beta2", 0.95},  {"weight_decay", 0.3}, {"eps", 1e-6}};
  expect_follows<Moments>(config, [](double& w, double g, long t, Moments& s) {
    g += 0.3 * w;
    s.m = 0.8 * s.m + 0.2 * g;
    s.v = 0.95 * s.v + 0.05 * g * g;
    const double mean = s.m / (1 - std::pow(0.8, t)), square = s.v / (1 - std::pow(0.95, t));
    w -= 0.01 * mean / (std::sqrt(square) + 1e-6);
  });
}

TEST_F(OptimizerTest, AdamW) {
  const Json config = {{"name", "adamw"}, {"lr", 0.01}, {"weight_decay", 0.3}};
  expect_follows<Moments>(config, [](double& w, double g, long t, Moments& s) {
    s.m = 0.9 * s.m + 0.1 * g;
    s.v = 0.999 * s.v + 0.001 * g * g;
    const double mean = s.m / (1 - std::pow(0.9, t)), square = s.v / (1 - std::pow(0.999, t));
    w -= 0.01 * (0.3 * w + mean / (std::sqrt(square) + 1e-8));
  });
}

TEST_F(OptimizerTest, RmsProp) {
  expect_follows<Momentum>(
      {{"name", "rmsprop"}, {"lr", 0.01}, {"alpha", 0.8}, {"weight_decay", 0.3}, {"eps", 1e-6}},
      [](double& w, double g, long, Momentum& s) {
        g += 0.3 * w;
        s.m = 0.8 * s.m + 0.2 * g * g;
        w -= 0.01 * g / (std::sqrt(s.m) + 1e-6);
      });
}

TEST_F(OptimizerTest, Adagrad) {
  expect_follows<Momentum>({{"name", "adagrad"}, {"lr", 0.02}, {"weight_decay", 0.3}},
                           [](double& w, double g, long, Momentum& s) {
                             g += 0.3 * w;
                             s.m += g * g;
                             w -= 0.02 * g / (std::sqrt(s.m) + 1e-10);
                           });
}

TEST_F(OptimizerTest, Lion) {
  expect_follows<Momentum>(
      {{"name", "lion"}, {"lr", 0.01}, {"beta1", 0.8}, {"beta2", 0.95}, {"weight_decay", 0.3}},
      [](double& w, double g, long, Momentum& s) {
        const double c = 0.8 * s.m + 0.2 * g;
        w -= 0.01 * ((c > 0) - (c < 0) + 0.3 * w);
        s.m = 0.95 * s.m + 0.05 * g;
      });
}

TEST_F(OptimizerTest, EveryBucketCountsItsOwnSteps) {
  auto optimizer = make({{"name", "sgd"}, {"lr", 1}, {"decay", "linear"}}, 4);
  for (Bucket& bucket : workload.buckets()) {  // the rates are 1, 3/4 and 2/4, one after the other
    host.fill(bucket.grad, 1);
    for (int t = 0; t < 3; ++t) optimizer->step(rank.ctx, bucket);
    EXPECT_FLOAT_EQ(bucket.weight.floats()[0], 1 - (1 + 0.75f + 0.5f));
  }
}

TEST_F(OptimizerTest, PhantomsAreSteppedAndChargedLikeValues) {
  NullDevice null;
  for (const char* name : {"sgd", "adam", "adamw", "rmsprop", "adagrad", "lion"}) {
    std::vector<std::vector<Cost>> charged;
    for (Device* inner : {static_cast<Device*>(&host), static_cast<Device*>(&null)}) {
      LoneRank timed(*inner);
      TimedDevice device(*inner, timed.stream);
      timed.ctx.device = &device;
      TwoBuckets buckets(*inner);
      const auto& entry = find_component(optimizers(), "optimizer", name, "");
      auto optimizer = entry.make(Json::object(), timed.ctx, buckets, 10);
      for (Bucket& bucket : buckets.buckets()) optimizer->step(timed.ctx, bucket);
      charged.push_back(timed.stream.charged);
    }
    ASSERT_EQ(charged[0].size(), charged[1].size());
    for (std::size_t i = 0; i < charged[0].size(); ++i) {
      EXPECT_EQ(charged[0][i].bytes, charged[1][i].bytes);
      EXPECT_GE(charged[0][i].bytes, 4 * 300.0) << "priced, not real, bytes";
    }
  }
}

TEST_F(OptimizerTest, BadOptionsNameTheirPointer) {
  const auto error_of = [](const Json& j) {
    return config_error_text([&] { resolve_component(optimizers(), "optimizer", j, "/o"); });
  };
  EXPECT_THAT(error_of("sdg"), StartsWith("/o: "));
  EXPECT_THAT(error_of({{"name", "sgd"}, {"momentun", 0.9}}), StartsWith("/o/momentun: "));
  EXPECT_THAT(error_of({{"name", "sgd"}, {"lr", -1}}), StartsWith("/o/lr: "));
  EXPECT_THAT(error_of({{"name", "adam"}, {"beta1", 1}}), StartsWith("/o/beta1: "));
  EXPECT_THAT(error_of({{"name", "adamw"}, {"decay", "cosin"}}), StartsWith("/o/decay: "));
  EXPECT_EQ(error_of("adamw"), "no error");
}

using Decay = Schedule::Decay;
using Scaling = Schedule::Scaling;

TEST(Schedule, TheRateIsConstantByDefault) {
  const LearningRate rate(0.1, {}, 64, 1000);
  for (long t : {0, 1, 999, 5000}) EXPECT_EQ(rate.at(t), 0.1f);
}

TEST(Schedule, ScalesWithTheNumberOfWorkersOnRequest) {
  EXPECT_FLOAT_EQ(LearningRate(0.1, {.lr_scaling = Scaling::linear}, 16, 10).at(0), 1.6f);
  EXPECT_FLOAT_EQ(LearningRate(0.1, {.lr_scaling = Scaling::sqrt}, 16, 10).at(0), 0.4f);
}

TEST(Schedule, WarmsUpLinearly) {
  const LearningRate rate(1, {.warmup_steps = 4}, 1, 10);
  EXPECT_EQ(rate.at(0), 0.25f);
  EXPECT_EQ(rate.at(2), 0.75f);
  EXPECT_EQ(rate.at(3), 1);
  EXPECT_EQ(rate.at(9), 1);
}

TEST(Schedule, DecaysFromTheWarmUpToTheEndOfTheRun) {
  const LearningRate linear(1, {.warmup_steps = 2, .decay = Decay::linear}, 1, 12);
  const LearningRate cosine(1, {.warmup_steps = 2, .decay = Decay::cosine}, 1, 12);
  for (long t = 2; t < 15; ++t) {
    const double progress = std::min(1.0, static_cast<double>(t - 2) / 10);
    EXPECT_FLOAT_EQ(linear.at(t), static_cast<float>(1 - progress));
    EXPECT_NEAR(cosine.at(t), (1 + std::cos(M_PI * progress)) / 2, 1e-7);
  }
  EXPECT_EQ(linear.at(12), 0);
  EXPECT_EQ(cosine.at(12), 0);
}

TEST(Schedule, DecaysInSteps) {
  const LearningRate rate(8, {.decay = Decay::step, .decay_every = 10, .decay_factor = 0.5}, 1,
                          100);
  EXPECT_EQ(rate.at(9), 8);
  EXPECT_EQ(rate.at(10), 4);
  EXPECT_EQ(rate.at(35), 1);
}

}  // namespace
}  // namespace trigram::test::optimizers_test
