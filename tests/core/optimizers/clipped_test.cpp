#include "core/optimizers/clipped.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/device/timed_device.h"
#include "core/optimizers/registry.h"
#include "core/workloads/bucketing.h"
#include "tests/support/lone_rank.h"

namespace trigram::test::clipped_test {
namespace {

constexpr std::size_t kPriced = 100;  // priced elements per element

/// Three buckets of weights and no data.
class Weights final : public FlatWorkload {
 public:
  explicit Weights(Device& device)
      : FlatWorkload(device, {3 * kPriced, 5 * kPriced, 2 * kPriced}, 10) {
    bucketize(0);
    device.fill(weights(), 1);
  }
  void forward(Context) override {}
  void backward(Context, const std::function<void(Bucket&)>&) override {}
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }
};

std::unique_ptr<Optimizer> make(const Json& reference, LoneRank& rank, Workload& workload) {
  const Json resolved = resolve_component(optimizers(), "optimizer", reference, "/optimizer");
  return find_component(optimizers(), "optimizer", reference, "")
      .make(component_options(resolved), rank.ctx, workload, 100);
}

/// A gradient whose length shrinks from step to step.
void set_gradient(Workload& workload, long step) {
  for (std::size_t i = 0; i < 10; ++i)
    workload.gradients().floats()[i] =
        static_cast<float>(std::sin(1.0 + static_cast<double>(i)) / static_cast<double>(step + 1));
}

/// Steps in any order of buckets.
void step(Optimizer& optimizer, LoneRank& rank, Workload& workload) {
  for (const std::size_t i : {1u, 2u, 0u}) optimizer.step(rank.ctx, workload.buckets()[i]);
}

TEST(ClippedOptimizer, ShortensTheWholeGradientInDoublePrecision) {
  constexpr double kLr = 0.25, kClip = 0.9;
  HostDevice host;
  LoneRank rank(host);
  Weights workload(host);
  const auto optimizer =
      clipped(make({{"name", "sgd"}, {"lr", kLr}}, rank, workload), workload, kClip);
  std::vector<double> expected(10, 1);
  int shortened = 0;
  for (long t = 0; t < 6; ++t) {
    set_gradient(workload, t);
    double squares = 0;
    std::vector<double> g;
    for (const float v : workload.gradients().floats()) {
      g.push_back(double{v});
      squares += double{v} * double{v};
    }
    const double divisor = std::max(1.0, std::sqrt(squares) / kClip);
    if (divisor > 1) ++shortened;
    for (std::size_t i = 0; i < 10; ++i) expected[i] -= kLr * g[i] / divisor;
    step(*optimizer, rank, workload);
    for (std::size_t i = 0; i < 10; ++i)
      EXPECT_NEAR(double{workload.weights().floats()[i]}, expected[i], 1e-6) << "step " << t;
  }
  EXPECT_GT(shortened, 0);
  EXPECT_LT(shortened, 6);
}

TEST(ClippedOptimizer, ChangesNoBitOfGradientsThatAreShortEnough) {
  const double lowest = 4;  // longer than every gradient here
  for (const char* name : {"sgd", "adam", "lion"})
    for (const double clip : {lowest, std::numeric_limits<double>::infinity()}) {
      HostDevice host;
      LoneRank rank(host);
      Weights plain(host), limited(host);
      const auto expected = make(name, rank, plain);
      const auto optimizer = clipped(make(name, rank, limited), limited, clip);
      for (long t = 0; t < 6; ++t) {
        for (Workload* workload :
             {static_cast<Workload*>(&plain), static_cast<Workload*>(&limited)})
          set_gradient(*workload, t);
        step(*expected, rank, plain);
        step(*optimizer, rank, limited);
      }
      const auto x = plain.weights().floats(), y = limited.weights().floats();
      EXPECT_EQ(std::vector<float>(x.begin(), x.end()), std::vector<float>(y.begin(), y.end()));
    }
}

/// A step reads the gradient for the norm, and reads and writes it for the factor, whatever the
/// values are. Steps along the moment take no gradient.
TEST(ClippedOptimizer, ChargesANormAndAFactor) {
  HostDevice host;
  RecordingStream clock;
  TimedDevice device(host, clock);
  LoneRank rank(device);
  Weights workload(host);
  const auto optimizer =
      clipped(make({{"name", "sgd"}, {"momentum", 0.5}}, rank, workload), workload, 0.1);
  clock.charged.clear();  // the optimizer has set its momentum to 0
  for (long t = 0; t < 2; ++t) {
    set_gradient(workload, t);
    for (Bucket& bucket : workload.buckets()) optimizer->accumulate(rank.ctx, bucket);
    double bytes = 0;
    for (const Cost& cost : clock.charged) bytes += cost.bytes;
    constexpr double kModel = 4 * 10 * kPriced;
    EXPECT_DOUBLE_EQ(bytes, (1 + 2) * kModel + 3 * kModel);  // and the moment's update
    const std::size_t before = clock.charged.size();
    for (Bucket& bucket : workload.buckets()) optimizer->advance(rank.ctx, bucket);
    EXPECT_EQ(clock.charged.size(), before + 3);
    clock.charged.clear();
  }
}

}  // namespace
}  // namespace trigram::test::clipped_test
