// The asynchronous parameter server with a known order of arrivals: its pushes, its pulls and the
// losses of codes, compared with plain loops over its equations.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/algorithms/update_rules/server_shards.h"

namespace trigram::test::async_server_schedule_test {
namespace {

using namespace server_shards;

constexpr long kSteps = 4;

// The start of the ranks' steps in seconds; a step takes at most a millisecond.
constexpr double kStart[kRanks] = {0.05, 0, 0.13}, kPeriod[kRanks] = {0.3, 0.1, 0.16};

/// The rank of each step of the run, in the order of steps.
std::vector<std::size_t> order() {
  std::vector<std::pair<double, std::size_t>> begins;
  for (std::size_t r = 0; r < kRanks; ++r)
    for (long t = 0; t < kSteps; ++t)
      begins.emplace_back(kStart[r] + static_cast<double>(t) * kPeriod[r], r);
  std::sort(begins.begin(), begins.end());
  std::vector<std::size_t> ranks;
  for (const auto& [time_s, rank] : begins) ranks.push_back(rank);
  return ranks;
}

/// The exchanges of one shard.
struct Shard : ServerShard {
  /// Pushes d: v = d + e is sent as C(v), and e = v - C(v). The worker's new weights are its old
  /// weights + C(weights - old weights) + C(v).
  void exchange(std::size_t worker, const Vector& d, const Coder& code) {
    if (worker == server) return add(1, d, weights);
    Vector v = d, news = weights;
    add(1, error[worker], v);
    add(-1, seen[worker], news);
    const Vector pushed = code(v), pulled = code(news);
    error[worker] = v;
    add(-1, pushed, error[worker]);
    add(1, pulled, seen[worker]);
    add(1, pushed, seen[worker]);
    add(1, pushed, weights);
  }
};

/// Applies the equations, step by step in the order of `order`.
class Reference {
 public:
  Reference(std::size_t servers, Coder code)
      : code_(std::move(code)), x_(kRanks, Vector(kNumel, 1)), shards_(shards_on<Shard>(servers)) {
    for (const std::size_t rank : order()) step(rank);
    for (Vector& path : paths_) path.back() = weights()[0];  // the last step ends with a pull
  }
  const Vectors& paths() const { return paths_; }
  Vector weights() const { return weights_of(shards_); }

 private:
  void step(std::size_t r) {
    Vector& x = x_[r];
    const Vector before = x;
    for (Shard& shard : shards_) {
      shard.exchange(r, change_of(shard, r, before), code_);
      const Vector& now = r == shard.server ? shard.weights : shard.seen[r];
      std::copy(now.begin(), now.end(), x.begin() + static_cast<std::ptrdiff_t>(shard.begin));
    }
    paths_[r].push_back(x[0]);
  }

  Coder code_;
  Vectors x_, paths_{kRanks};
  std::vector<Shard> shards_;
};

class AsyncServerSchedule : public NamedWorldTest {};

Json server(const Json& servers, const Json& codec) {
  Json spec = {{"name", "async_parameter_server"}, {"servers", servers}};
  if (!codec.is_null()) spec["codec"] = codec;
  return spec;
}

TEST_P(AsyncServerSchedule, FollowsTheEquations) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "the schedule needs exact times";
  const Vector exact = Reference(1, coder_of(Json())).weights();
  for (const Json& codec : {Json(), Json{{"name", "minmax_uint8"}}, Json{{"name", "sign"}},
                            Json{{"name", "topk"}, {"density", 0.3}}})
    for (const std::size_t servers : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << codec << ", servers " << servers);
      AffineTraining training = training_of(GetParam(), server(servers, codec), kSteps);
      training.delay = [](int rank, long t) {
        const auto r = static_cast<std::size_t>(rank);
        return t == 0 ? kStart[r] : kPeriod[r];
      };
      const Reference reference(servers, coder_of(codec));
      expect_trained(training, reference, 2e-5f);
      const double loss = largest_difference({reference.weights()}, {exact});
      if (codec.is_null()) EXPECT_LT(loss, 1e-5);
      else EXPECT_GT(loss, 3e-4) << "the code loses something";
    }
}

/// After any number of steps, the pushed changes and the changes that workers hold back add up to
/// all changes. If changes do not depend on the weights, the model therefore differs from the sum
/// of all changes only by the held-back changes, which do not grow.
TEST_P(AsyncServerSchedule, PushesLoseNothingInTheLongRun) {
  constexpr double kSum = kRanks * (kRanks + 1) / 2.0;
  const double largest_step = double{kLr} * kSum * (1 + 0.02 * kNumel);
  for (const long steps : {5L, 60L})
    for (const Json& codec : {Json{{"name", "topk"}, {"density", 0.25}}, Json{{"name", "sign"}}}) {
      SCOPED_TRACE(testing::Message() << codec << ", " << steps << " steps");
      for (const AffineEnd& end : train({.world = GetParam(),
                                  .cluster = flat_cluster(kRanks),
                                  .algorithm = server(1, codec),
                                  .steps = steps,
                                  .slope = 0,
                                  .tilt = 0.02,
                                  .lr = double{kLr},
                                  .numel = kNumel}))
        for (std::size_t i = 0; i < kNumel; ++i) {
          const double slant = 1 + 0.02 * static_cast<double>(i);
          EXPECT_NEAR(end.weights[i], 1 - double{kLr} * static_cast<double>(steps) * kSum * slant,
                      5 * largest_step);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, AsyncServerSchedule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::async_server_schedule_test
