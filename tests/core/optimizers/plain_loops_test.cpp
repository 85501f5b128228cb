// Every optimizer gives the same bits as a plain loop over single tensors, for all bucket sizes and
// vector instruction sets.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <ostream>

#include "core/nn/host_nn_ops.h"
#include "tests/core/optimizers/mixed_tensors.h"
#include "tests/support/lone_rank.h"
#include "tests/support/vector_targets.h"

namespace trigram::test::plain_loops_test {
namespace {

using Values = std::vector<float>;

/// One tensor with memory of its own.
struct PlainTensor {
  std::size_t rows, columns;
  Values w, g, a, b;  // weights, gradient, states
};
/// One step of one tensor; steps are counted from 1.
using PlainStep = std::function<void(PlainTensor&, int step)>;

double norm(const Values& x) {
  double squares = 0;
  for (const float v : x) squares += static_cast<double>(v) * v;
  return std::sqrt(squares);
}

/// 1 - beta^steps
float correction(double beta, int steps) {
  double power = 1;
  for (int i = 0; i < steps; ++i) power *= beta;
  return static_cast<float>(1 - power);
}

void sgd(PlainTensor& t, int) {
  for (std::size_t i = 0; i < t.w.size(); ++i) t.w[i] -= 0.1f * (t.g[i] + 0.01f * t.w[i]);
}

void momentum(PlainTensor& t, int) {
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.a[i] = 0.9f * t.a[i] + (t.g[i] + 0.01f * t.w[i]);
    t.w[i] -= 0.1f * t.a[i];
  }
}

void adam_step(PlainTensor& t, int step, float beta2, float decay, float decoupled) {
  // Optimizers compute corrections from the option, which is a double, not from its float.
  const float c1 = correction(0.9, step), c2 = correction(beta2 == 0.95f ? 0.95 : 0.999, step);
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    const float g = t.g[i] + decay * t.w[i];
    t.a[i] = 0.9f * t.a[i] + (1 - 0.9f) * g;
    t.b[i] = beta2 * t.b[i] + (1 - beta2) * (g * g);
    const float update = (t.a[i] / c1) / (std::sqrt(t.b[i] / c2) + 1e-8f);
    t.w[i] = (t.w[i] - 0.1f * decoupled * t.w[i]) - 0.1f * update;
  }
}
void adam(PlainTensor& t, int step) { adam_step(t, step, 0.999f, 0.01f, 0); }
void adamw(PlainTensor& t, int step) { adam_step(t, step, 0.999f, 0, 0.01f); }

void rmsprop(PlainTensor& t, int) {
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    const float g = t.g[i] + 0.01f * t.w[i];
    t.a[i] = 0.9f * t.a[i] + (1 - 0.9f) * (g * g);
    t.w[i] -= 0.1f * (g / (std::sqrt(t.a[i]) + 1e-8f));
  }
}

void adagrad(PlainTensor& t, int) {
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    const float g = t.g[i] + 0.01f * t.w[i];
    t.a[i] += g * g;
    t.w[i] -= 0.1f * (g / (std::sqrt(t.a[i]) + 1e-10f));
  }
}

void lion(PlainTensor& t, int) {
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    const float mean = 0.9f * t.a[i] + (1 - 0.9f) * t.g[i];
    t.w[i] -= 0.1f * 0.01f * t.w[i];
    if (mean > 0) t.w[i] -= 0.1f;
    if (mean < 0) t.w[i] += 0.1f;
    t.a[i] = 0.99f * t.a[i] + (1 - 0.99f) * t.g[i];
  }
}

void lamb(PlainTensor& t, int step) {
  const float scale1 = 1 / correction(0.9, step), scale2 = 1 / correction(0.999, step);
  Values u(t.w.size());
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.a[i] = 0.9f * t.a[i] + (1 - 0.9f) * t.g[i];
    t.b[i] = 0.999f * t.b[i] + (1 - 0.999f) * (t.g[i] * t.g[i]);
    u[i] = (t.a[i] * scale1) / (std::sqrt(t.b[i] * scale2) + 1e-6f) + 0.01f * t.w[i];
  }
  const auto trust = static_cast<float>(norm(t.w) / norm(u));
  for (std::size_t i = 0; i < t.w.size(); ++i) t.w[i] -= 0.1f * trust * u[i];
}

void lars(PlainTensor& t, int) {
  float rate = 0.1f, decay = 0;
  if (t.rows > 1) {
    decay = 0.01f;
    const double w = norm(t.w), g = norm(t.g), trust = 0.001f;
    rate = 0.1f * static_cast<float>(trust * w / (g + static_cast<double>(decay) * w));
  }
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.a[i] = 0.9f * t.a[i] + rate * (t.g[i] + decay * t.w[i]);
    t.w[i] -= t.a[i];
  }
}

/// Matrix products come from gemm(), because a plain loop would round differently; so this test
/// covers Muon except for its products.
void muon(PlainTensor& t, int step) {
  if (t.rows == 1) return adam_step(t, step, 0.95f, 0, 0.01f);
  const std::size_t n = t.w.size(), side = std::min(t.rows, t.columns);
  Values x(n), a(side * side), b(side * side);
  for (std::size_t i = 0; i < n; ++i) {
    t.a[i] = 0.95f * t.a[i] + t.g[i];
    x[i] = t.g[i] + 0.95f * t.a[i];
  }
  const float scale = 1 / (static_cast<float>(norm(x)) + 1e-7f);
  for (float& v : x) v *= scale;
  const bool tall = t.rows > t.columns;
  for (int iteration = 0; iteration < 5; ++iteration) {
    gemm({side, side, tall ? t.rows : t.columns, tall, !tall}, x.data(), x.data(), 0, a.data());
    gemm({side, side, side}, a.data(), a.data(), 0, b.data());
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = -4.7750f * a[i] + 2.0315f * b[i];
    Values next = x;
    gemm({t.rows, t.columns, side}, tall ? x.data() : b.data(), tall ? b.data() : x.data(), 3.4445f,
         next.data());
    x = next;
  }
  const float rate = 0.1f * 0.2f * std::sqrt(static_cast<float>(std::max(t.rows, t.columns)));
  for (std::size_t i = 0; i < n; ++i) t.w[i] = -rate * x[i] + (1 - 0.1f * 0.01f) * t.w[i];
}

struct Case {
  const char* name;
  Json options;
  PlainStep step;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

Json options(const char* name, const Json& more = Json::object()) {
  Json all = {{"name", name}, {"lr", 0.1}, {"weight_decay", 0.01}};
  all.update(more);
  return all;
}

const Case kCases[] = {{"sgd", options("sgd"), sgd},
                       {"momentum", options("sgd", {{"momentum", 0.9}}), momentum},
                       {"adam", options("adam"), adam},
                       {"adamw", options("adamw"), adamw},
                       {"rmsprop", options("rmsprop"), rmsprop},
                       {"adagrad", options("adagrad"), adagrad},
                       {"lion", options("lion"), lion},
                       {"lamb", options("lamb"), lamb},
                       {"lars", options("lars"), lars},
                       {"muon", options("muon"), muon}};

constexpr int kSteps = 4;

std::vector<float> values(const Tensor& x) { return {x.floats().begin(), x.floats().end()}; }

/// The weights after kSteps steps with buckets of at least `bucket_bytes` bytes.
Values in_buckets(const Json& optimizer_spec, std::size_t bucket_bytes,
                  std::size_t* count = nullptr) {
  HostDevice host;
  LoneRank rank(host);
  MixedTensors model(host);
  model.bucketize(bucket_bytes);
  if (count) *count = model.buckets().size();
  const auto optimizer = make_optimizer(optimizer_spec, rank.ctx, model);
  for (int step = 1; step <= kSteps; ++step) {
    model.draw_gradients(step);
    for (Bucket& bucket : model.buckets()) optimizer->step(rank.ctx, bucket);
  }
  return values(model.weights());
}

/// The weights after kSteps steps of `update` on each tensor separately.
Values one_by_one(const PlainStep& update) {
  HostDevice host;
  MixedTensors model(host);
  std::vector<PlainTensor> tensors;
  const auto part = [](const Tensor& all, std::size_t begin, std::size_t n) {
    return values(all.slice(begin, n));
  };
  std::size_t begin = 0;
  for (const auto& [rows, columns] : MixedTensors::shapes()) {
    const std::size_t n = rows * columns;
    tensors.push_back({rows, columns, part(model.weights(), begin, n), {}, Values(n), Values(n)});
    begin += n;
  }
  for (int step = 1; step <= kSteps; ++step) {
    model.draw_gradients(step);
    begin = 0;
    for (PlainTensor& t : tensors) {
      t.g = part(model.gradients(), begin, t.w.size());
      begin += t.w.size();
      update(t, step);
    }
  }
  Values all;
  for (const PlainTensor& t : tensors) all.insert(all.end(), t.w.begin(), t.w.end());
  return all;
}

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class PlainLoops : public testing::TestWithParam<Case> {};

TEST_P(PlainLoops, GiveTheSameBitsAsBuckets) {
  const Values expected = one_by_one(GetParam().step);
  constexpr std::size_t kOneTensorEach = 0, kSeveral = 4000, kAllInOne = 1 << 20;
  for_each_vector_target([&](const std::string& target) {
    for (const std::size_t bytes : {kOneTensorEach, kSeveral, kAllInOne}) {
      std::size_t buckets = 0;
      EXPECT_TRUE(same_bits(in_buckets(GetParam().options, bytes, &buckets), expected))
          << target << ", buckets of " << bytes << " bytes";
      const std::size_t tensors = MixedTensors::shapes().size();
      if (bytes == kSeveral) EXPECT_TRUE(buckets > 2 && buckets < tensors - 2) << buckets;
      else EXPECT_EQ(buckets, bytes == kAllInOne ? 1u : tensors);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Optimizers, PlainLoops, testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

TEST(PlainLoops, CoverEveryOptimizer) {
  for (const OptimizerEntry& entry : optimizers())
    EXPECT_TRUE(std::ranges::any_of(kCases, [&](const Case& tested) {
      return tested.options.at("name") == entry.name;
    })) << entry.name;
}

/// LAMB and LARS give other weights if they take a norm over the whole bucket instead of each
/// tensor, as an optimizer over flattened parameters would. So the test above can detect this
/// error.
TEST(PlainLoops, ANormOverAWholeBucketGivesOtherWeights) {
  for (const char* name : {"lamb", "lars"}) {
    const Values expected = in_buckets(options(name), 1 << 20);
    HostDevice host;
    LoneRank rank(host);
    MixedTensors model(host);
    model.bucketize(1 << 20);
    Bucket& bucket = model.buckets()[0];
    bucket.tensors = {{0, bucket.weight.numel(), 0}};
    const auto optimizer = make_optimizer(options(name), rank.ctx, model);
    for (int step = 1; step <= kSteps; ++step) {
      model.draw_gradients(step);
      optimizer->step(rank.ctx, bucket);
    }
    const Values wrong = values(model.weights());
    std::size_t different = 0;
    for (std::size_t i = 0; i < wrong.size(); ++i)
      different += std::fabs(wrong[i] - expected[i]) > 1e-4f * std::fabs(expected[i]);
    EXPECT_GT(different, wrong.size() / 2) << name;
  }
}

}  // namespace
}  // namespace trigram::test::plain_loops_test
