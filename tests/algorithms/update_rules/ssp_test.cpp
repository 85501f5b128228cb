// Stale synchronous parallel with a known order of arrivals, compared with plain loops over its
// equations; and how far workers get ahead of each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "tests/algorithms/update_rules/server_shards.h"

namespace trigram::test::ssp_test {
namespace {

using namespace server_shards;

constexpr long kSteps = 7;

// The duration of each rank's steps in seconds. Everything else takes milliseconds.
constexpr double kPeriod[kRanks] = {36.7, 10.1, 17.3};

/// The exchanges of one shard.
struct Shard : ServerShard {
  /// v = d + e is sent as C(v), and e = v - C(v).
  void push(std::size_t worker, const Vector& d, const Coder& code) {
    if (worker == server) return add(1, d, weights);
    Vector v = d;
    add(1, error[worker], v);
    const Vector pushed = code(v);
    error[worker] = v;
    add(-1, pushed, error[worker]);
    add(1, pushed, seen[worker]);
    add(1, pushed, weights);
  }
  /// The worker's weights change by C(weights - its weights).
  const Vector& pull(std::size_t worker, const Coder& code) {
    if (worker == server) return weights;
    Vector news = weights;
    add(-1, seen[worker], news);
    add(1, code(news), seen[worker]);
    return seen[worker];
  }
};

/// Applies the equations, worker by worker as they finish their steps.
class Reference {
 public:
  Reference(std::size_t servers, Coder code, long staleness)
      : code_(std::move(code)),
        staleness_(staleness),
        shards_(shards_on<Shard>(servers)),
        x_(kRanks, Vector(kNumel, 1)) {
    while (*std::min_element(clocks_, clocks_ + kRanks) < kSteps) step();
    for (Vector& path : paths_) path.push_back(weights()[0]);  // the last step ends with a pull
  }
  const Vectors& paths() const { return paths_; }
  double shortest_gap_s() const { return shortest_gap_s_; }
  long largest_lead() const { return largest_lead_; }
  Vector weights() const { return weights_of(shards_); }

 private:
  static constexpr double kNever = 1e9;

  /// The next rank finishes its step; then every rank that is not too far ahead continues.
  void step() {
    const auto first = std::min_element(next_s_, next_s_ + kRanks);
    shortest_gap_s_ = std::min(shortest_gap_s_, *first - now_s_);
    now_s_ = *first;
    *first = kNever;
    const auto r = static_cast<std::size_t>(first - next_s_);
    for (Shard& shard : shards_) shard.push(r, change_of(shard, r, x_[r]), code_);
    if (++clocks_[r] < kSteps) waiting_.insert(r);
    const long slowest = *std::min_element(clocks_, clocks_ + kRanks);
    largest_lead_ = std::max(largest_lead_, clocks_[r] - slowest);
    for (std::size_t w = 0; w < kRanks; ++w)
      if (waiting_.contains(w) && clocks_[w] <= slowest + staleness_) continue_rank(w);
  }

  void continue_rank(std::size_t r) {
    waiting_.erase(r);
    for (Shard& shard : shards_) {
      const Vector& now = shard.pull(r, code_);
      std::copy(now.begin(), now.end(), x_[r].begin() + static_cast<std::ptrdiff_t>(shard.begin));
    }
    paths_[r].push_back(x_[r][0]);
    next_s_[r] = now_s_ + kPeriod[r];
  }

  Coder code_;
  long staleness_;
  std::vector<Shard> shards_;
  Vectors x_, paths_{kRanks};
  std::set<std::size_t> waiting_;
  long clocks_[kRanks] = {};
  double next_s_[kRanks] = {kPeriod[0], kPeriod[1], kPeriod[2]};
  double now_s_ = 0, shortest_gap_s_ = kNever;
  long largest_lead_ = 0;
};

Json ssp(long staleness, const Json& servers = "all", const Json& codec = {}) {
  Json spec = {{"name", "ssp"}, {"staleness", staleness}, {"servers", servers}};
  if (!codec.is_null()) spec["codec"] = codec;
  return spec;
}

class SspRule : public AffineTest {};

TEST_P(SspRule, FollowsTheEquations) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "the schedule needs exact times";
  for (const long staleness : {0, 1, 3, 100})
    for (const Json& codec :
         {Json(), Json{{"name", "minmax_uint8"}}, Json{{"name", "topk"}, {"density", 0.3}}})
      for (const std::size_t servers : {1u, 2u, 3u}) {
        SCOPED_TRACE(testing::Message() << staleness << ", " << codec << ", servers " << servers);
        const Reference reference(servers, coder_of(codec), staleness);
        ASSERT_GT(reference.shortest_gap_s(), 0.1) << "who is first must be clear";
        EXPECT_EQ(reference.largest_lead(), std::min(staleness + 1, 6L));
        AffineTraining run = training_of(GetParam(), ssp(staleness, servers, codec), kSteps);
        run.delay = [](int rank, long) { return kPeriod[static_cast<std::size_t>(rank)]; };
        expect_trained(run, reference, 5e-5f);
      }
}

/// With a bound of zero every pull includes all updates of the earlier clocks. If workers are
/// equally fast, it includes none of the present clock, so each step uses the sum of all gradients
/// at common weights.
TEST_P(SspRule, WithoutStalenessIsSynchronous) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of equal speed";
  for (const int ranks : {1, 2, 4, 7}) {
    double x = 1;
    std::vector<double> path;
    for (int t = 0; t < 5; ++t) {
      double sum = 0;
      for (int r = 0; r < ranks; ++r) sum += 0.5 * x + r + 1;
      path.push_back(x -= 0.02 * sum);
    }
    for (const Json& servers : {Json("all"), Json(1)}) {
      AffineTraining run = training(ranks, ssp(0, servers), 5);
      run.lr = 0.02;
      for (const AffineEnd& end : train(run)) expect_near({end.path.begin(), end.path.end()}, path);
    }
  }
}

/// A rank that begins step c knows that all other ranks have ended step c - s - 1.
TEST_P(SspRule, NoRankIsFurtherAheadThanTheBound) {
  if (!is_simulated(GetParam()) && GetParam() != "threads")
    GTEST_SKIP() << "ranks of other processes are not seen here";
  constexpr int kMany = 4;
  for (const long staleness : {0, 2}) {
    std::mutex mutex;
    std::vector<long> begun(kMany, 0);
    AffineTraining run = training(kMany, ssp(staleness), 10);
    run.lr = 0.02;
    run.delay = [&](int rank, long step) {
      std::lock_guard guard(mutex);
      begun[static_cast<std::size_t>(rank)] = step;
      EXPECT_LE(step - *std::min_element(begun.begin(), begun.end()), staleness + 1);
      return rank == 1 ? 0.01 : 0;
    };
    train(run);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, SspRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::ssp_test
