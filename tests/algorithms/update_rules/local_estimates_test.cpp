// Methods whose workers send codes of changes of their own estimates or momenta, compared with
// plain loops over their equations. Weights and gradients differ from element to element.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "core/device/host_device.h"
#include "tests/algorithms/update_rules/coded_gradients.h"
#include "tests/oracles/dion_reference.h"
#include "tests/support/codec_testing.h"

namespace trigram::test::local_estimates_test {
namespace {

using namespace coded;
using Doubles = std::vector<double>;

class LocalEstimates : public CodedGradients {};

/// x without all but its `kept` largest elements.
Doubles largest(const Doubles& x, std::size_t kept) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(x[a]) > std::abs(x[b]); });
  Doubles result(x.size());
  for (std::size_t i = 0; i < kept; ++i) result[order[i]] = x[order[i]];
  return result;
}

/// The kept elements of a bucket of 43 with a density of a fifth.
constexpr std::size_t kKept = 9;

Average ef21(double mu) {
  struct State {
    std::vector<Doubles> v, h;  // by rank
    Doubles mean;
  };
  const auto states = std::make_shared<std::map<int, State>>();
  return [states, mu](const Vectors& g, int bucket, long step) {
    State& s = (*states)[bucket];
    const std::size_t n = g.at(0).size();
    s.mean.resize(n);
    s.h.resize(g.size(), Doubles(n));
    s.v.resize(g.size());
    for (std::size_t r = 0; r < g.size(); ++r) {
      if (step == 0) s.v[r].assign(g[r].begin(), g[r].end());
      Doubles change(n);
      for (std::size_t i = 0; i < n; ++i) {
        s.v[r][i] = mu * s.v[r][i] + (1 - mu) * double{g[r][i]};
        change[i] = s.v[r][i] - s.h[r][i];
      }
      change = largest(change, kKept);
      for (std::size_t i = 0; i < n; ++i) {
        s.h[r][i] += change[i];
        s.mean[i] += change[i] / static_cast<double>(g.size());
      }
    }
    return Vector(s.mean.begin(), s.mean.end());
  };
}

TEST_P(LocalEstimates, Ef21FollowsTheMeanGradientByCodesOfItsChanges) {
  const CodecSpec topk{"topk", {{"density", 0.2}}};
  const auto follows = [](double mu) { return [mu](const WorkerSetup&) { return ef21(mu); }; };
  const auto feedback = [&](const WorkerSetup& workers) { return gathered(workers, topk, true); };
  for (const double mu : {0.0, 0.6})
    check({{"name", "ef21"}, {"codec", {{"name", "topk"}, {"density", 0.2}}}, {"momentum", mu}},
          follows(mu), {exact, feedback, follows(0.3)});
}

/// Momenta by rank and bucket, and the mean of what is taken out of them.
struct Momenta {
  double beta;
  std::map<int, std::vector<Doubles>> by_bucket;
  std::vector<Doubles>& advance(const Vectors& g, int bucket) {
    std::vector<Doubles>& all = by_bucket[bucket];
    all.resize(g.size(), Doubles(g.at(0).size()));
    for (std::size_t r = 0; r < g.size(); ++r)
      for (std::size_t i = 0; i < g[r].size(); ++i)
        all[r][i] = beta * all[r][i] + double{kLr} * double{g[r][i]};
    return all;
  }
};

Vector signs(const Doubles& x) {
  Vector result;
  for (const double v : x) result.push_back(v > 0 ? 1.0f : v < 0 ? -1.0f : 0.0f);
  return result;
}

Average demo_of_elements(double beta) {
  const auto momenta = std::make_shared<Momenta>(Momenta{beta, {}});
  return [momenta](const Vectors& g, int bucket, long) {
    Doubles sum(g.at(0).size());
    for (Doubles& m : momenta->advance(g, bucket)) {
      const Doubles taken = largest(m, kKept);
      for (std::size_t i = 0; i < m.size(); ++i) {
        sum[i] += taken[i];
        m[i] -= taken[i];
      }
    }
    return signs(sum);
  };
}

/// With the codec itself, which other tests check.
Average demo_of_coefficients(double beta, const char* mean) {
  const auto momenta = std::make_shared<Momenta>(Momenta{beta, {}});
  return [momenta, mean](const Vectors& g, int bucket, long) {
    HostDevice device;
    const auto codec = device.codec({"dct_topk", {{"keep", 500}, {"mean", mean}}});
    std::vector<Tensor> wires;
    const std::size_t n = g.at(0).size();
    const Tensor x = device.empty(n);
    for (Doubles& m : momenta->advance(g, bucket)) {
      for (std::size_t i = 0; i < n; ++i) x.floats()[i] = static_cast<float>(m[i]);
      wires.push_back(codec->empty_wire(device, x));
      codec->encode(wires.back(), x);
      codec->decode(x, wires.back());
      for (std::size_t i = 0; i < n; ++i) m[i] -= double{x.floats()[i]};
    }
    codec->decode_mean(device, x, wires);
    return signs(Doubles(x.floats().begin(), x.floats().end()));
  };
}

TEST_P(LocalEstimates, DeMoStepsAlongSignsOfWhatItTakesOutOfMomenta) {
  const auto elements = [](double beta) {
    return [beta](const WorkerSetup&) { return demo_of_elements(beta); };
  };
  const auto coefficients = [](const char* mean) {
    return [mean](const WorkerSetup&) { return demo_of_coefficients(0.9, mean); };
  };
  check({{"name", "demo"}, {"decay", 0.5}, {"codec", {{"name", "topk"}, {"density", 0.2}}}},
        elements(0.5), {exact, coefficients("all")});
  check({{"name", "demo"},
         {"decay", 0.9},
         {"codec", {{"name", "dct_topk"}, {"keep", 500}, {"mean", "senders"}}}},
        coefficients("senders"), {exact, elements(0.9)});
}

/// Buckets of 43 elements of unknown shape are matrices of 7 x 7.
Average dion(double fraction, double momentum) {
  const auto buckets = std::make_shared<std::map<int, DionReference>>();
  const auto rank = static_cast<std::size_t>(std::ceil(7 * fraction));
  return [buckets, rank, momentum](const Vectors& g, int bucket, long) {
    auto found = buckets->find(bucket);
    if (found == buckets->end())
      found = buckets
                  ->emplace(bucket, DionReference({.rows = 7,
                                                   .cols = 7,
                                                   .numel = g.at(0).size(),
                                                   .rank = rank,
                                                   .momentum = momentum,
                                                   .seed = kSeed},
                                                  bucket))
                  .first;
    std::vector<Doubles> gradients;
    for (const Vector& x : g) gradients.emplace_back(x.begin(), x.end());
    const Doubles update = found->second.update(gradients);
    return Vector(update.begin(), update.end());
  };
}

TEST_P(LocalEstimates, DionAveragesFactorsOfMomenta) {
  const auto with = [](double fraction, double momentum) {
    return [=](const WorkerSetup&) { return dion(fraction, momentum); };
  };
  check({{"name", "dion"}, {"rank_fraction", 0.2}, {"momentum", 0.7}}, with(0.2, 0.7),
        {exact, with(0.2, 0.95), with(0.4, 0.7)});
}

INSTANTIATE_TEST_SUITE_P(Worlds, LocalEstimates, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::local_estimates_test
