// Averages of sparse vectors whose elements all ranks choose together, against their equations in
// plain loops, to the last bit, on vectors of which every rank finds other elements large.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "algorithms/execution/averages.h"
#include "tests/oracles/sparse_reference.h"
#include "tests/update_rules/coded_gradients.h"

namespace trigram::test {
namespace {

constexpr int kBucketsOfAverage = 2;
constexpr long kStepsOfAverage = 4;
constexpr std::size_t kElements = 43;  // parts differ in length

Vector input(int rank, Slot slot) {
  Philox random(1, rank, slot.step * kBucketsOfAverage + slot.bucket, Purpose::gradient_noise);
  Vector x(kElements);
  for (float& v : x) v = random.normal();
  return x;
}

/// The mean of one bucket's vectors, as ranks that keep residuals have it.
using Reference = std::function<Vector(const Vectors& of, int bucket, long step)>;

Vector only(const Vector& x, const std::vector<std::uint32_t>& indices) {
  Vector result(x.size(), 0);
  for (const std::uint32_t i : indices) result[i] = x[i];
  return result;
}
Vector largest(const Vector& x, std::size_t k) { return only(x, topk_indices(x, k)); }

void add(const Vector& x, Vector& sum) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
}

std::size_t share_of(double density, std::size_t n) {
  return static_cast<std::size_t>(std::ceil(density * static_cast<double>(n)));
}

/// Every rank's residual of every bucket.
class Residuals {
 public:
  Vector& of(int bucket, std::size_t rank, std::size_t n) {
    Vector& e = all_[{bucket, rank}];
    e.resize(n, 0);
    return e;
  }

 private:
  std::map<std::pair<int, std::size_t>, Vector> all_;
};

struct GTopK {
  double density;
  bool keeps_rest = true;  // what a rank has not chosen
  bool puts_back = true;   // what it has, and the others not
  bool merges = true;      // else all codes are added up, and nothing is left out but at the end

  Reference operator()() const {
    return [o = *this, residuals = std::make_shared<Residuals>()](const Vectors& of, int bucket,
                                                                  long) {
      const std::size_t P = of.size(), n = of.at(0).size(), k = share_of(o.density, n);
      if (P == 1) return of[0];
      Vectors chosen;
      for (std::size_t r = 0; r < P; ++r) {
        Vector& e = residuals->of(bucket, r, n);
        add(of[r], e);
        chosen.push_back(largest(e, k));
      }
      Vectors sums = chosen;
      for (std::size_t apart = 1; apart < P; apart *= 2)
        for (std::size_t r = 0; r + apart < P; r += 2 * apart) {
          add(sums[r + apart], sums[r]);
          if (o.merges) sums[r] = largest(sums[r], k);
        }
      Vector result = largest(sums[0], k);
      for (std::size_t r = 0; r < P; ++r) {
        Vector& e = residuals->of(bucket, r, n);
        for (std::size_t i = 0; i < n; ++i)
          if (chosen[r][i] == 0 ? !o.keeps_rest : !o.puts_back || result[i] != 0) e[i] = 0;
      }
      for (float& v : result) v *= 1.0f / static_cast<float>(P);
      return result;
    };
  }
};

class SparseAverages : public WorldTest {
 protected:
  /// Rank 0's results, bucket by bucket in every step, joined.
  Vector results(const std::function<Exchange()>& make) {
    const auto bytes = results_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
      const Exchange average = make();
      std::string all;
      for (long step = 0; step < kStepsOfAverage; ++step)
        for (int bucket = 0; bucket < kBucketsOfAverage; ++bucket) {
          const Tensor x = tensor_of(ctx, input(ctx.world_rank, {bucket, step}));
          average(ctx, x, {bucket, step});
          const auto values = ctx.device->download(x);
          all.append(reinterpret_cast<const char*>(values.data()), x.nbytes());
        }
      return all;
    });
    for (const std::string& other : bytes) EXPECT_EQ(other, bytes.at(0)) << "ranks differ";
    Vector values(kStepsOfAverage * kBucketsOfAverage * kElements);
    std::memcpy(values.data(), bytes.at(0).data(), bytes.at(0).size());
    return values;
  }
  Vector expected(const Reference& reference) const {
    Vector all;
    for (long step = 0; step < kStepsOfAverage; ++step)
      for (int bucket = 0; bucket < kBucketsOfAverage; ++bucket) {
        Vectors x;
        for (int rank = 0; rank < ranks(); ++rank) x.push_back(input(rank, {bucket, step}));
        const Vector mean = reference(x, bucket, step);
        all.insert(all.end(), mean.begin(), mean.end());
      }
    return all;
  }
  /// The rule holds, and each of `others` is another one.
  void check(const std::function<Exchange()>& make, const Reference& rule,
             const std::vector<Reference>& others) {
    const Vector wanted = expected(rule);
    EXPECT_EQ(results(make), wanted);
    for (std::size_t i = 0; i < others.size() && ranks() > 2; ++i)
      EXPECT_GT(largest_difference({wanted}, {expected(others[i])}), 1e-2) << "other rule " << i;
  }
};

TEST_P(SparseAverages, GTopKKeepsTheLargestOfEverySumOnTheWayUp) {
  const double density = 0.2;
  GTopK rule{density}, forgets = rule, drops = rule, adds = rule;
  forgets.keeps_rest = false;
  drops.puts_back = false;
  adds.merges = false;
  check(
      [&] {
        return tree_average({{"topk", {{"density", density}}}, true});
      },
      rule(), {forgets(), drops(), adds()});
}

INSTANTIATE_TEST_SUITE_P(Worlds, SparseAverages, every_world(1, 2, 3, 4, 5, 7, 8), world_test_name);

/// The same as training runs have it, flat and in a hierarchy.
class SparseSgd : public coded::CodedGradients {};

TEST_P(SparseSgd, GTopKStepsAlongTheMeanOfWhatIsLargest) {
  const auto by = [](double density, bool keeps_rest) {
    return [=](const coded::Who&) -> coded::Average { return GTopK{density, keeps_rest}(); };
  };
  check({{"name", "gtopk"}, {"density", 0.2}}, by(0.2, true),
        {coded::exact, by(0.2, false), by(0.1, true)});
}

INSTANTIATE_TEST_SUITE_P(Worlds, SparseSgd, ::testing::ValuesIn(world_names()),
                         [](const auto& world) { return world.param; });

}  // namespace
}  // namespace trigram::test
