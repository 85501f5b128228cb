// Optimizers that treat each tensor as a whole, against the equations of their papers in double
// precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/device/timed_device.h"
#include "tests/core/optimizers/mixed_tensors.h"
#include "tests/support/lone_rank.h"

namespace trigram::test::layerwise_test {
namespace {

using Doubles = std::vector<double>;

struct Exact {
  std::size_t rows, columns;
  Doubles w, g, m, v;
};

double norm(const Doubles& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

Doubles doubles(const Tensor& x) { return {x.floats().begin(), x.floats().end()}; }

/// Steps an optimizer and `update(tensor, step)` on each tensor, and compares the weights, which
/// may differ by `tolerance` times the largest weight of the tensor.
template <class Update>
void expect_follows(const Json& config, double tolerance, const Update& update) {
  HostDevice host;
  LoneRank rank(host);
  MixedTensors model(host);
  model.bucketize(4000);
  const auto optimizer = make_optimizer(config, rank.ctx, model);
  std::vector<Exact> tensors;
  std::size_t begin = 0;
  for (const auto& [rows, columns] : MixedTensors::shapes()) {
    const std::size_t n = rows * columns;
    tensors.push_back(
        {rows, columns, doubles(model.weights().slice(begin, n)), {}, Doubles(n), Doubles(n)});
    begin += n;
  }
  for (int step = 1; step <= 5; ++step) {
    model.draw_gradients(step);
    begin = 0;
    for (Exact& t : tensors) {
      t.g = doubles(model.gradients().slice(begin, t.w.size()));
      begin += t.w.size();
      update(t, step);
    }
    for (Bucket& bucket : model.buckets()) optimizer->step(rank.ctx, bucket);
  }
  begin = 0;
  for (const Exact& t : tensors) {
    const Doubles actual = doubles(model.weights().slice(begin, t.w.size()));
    double largest = 0, farthest = 0;
    for (std::size_t i = 0; i < t.w.size(); ++i) {
      largest = std::max(largest, std::fabs(t.w[i]));
      farthest = std::max(farthest, std::fabs(t.w[i] - actual[i]));
    }
    EXPECT_LT(farthest, tolerance * largest) << t.rows << " x " << t.columns;
    begin += t.w.size();
  }
}

/// arXiv 1904.00962, Algorithm 2, with the bias corrections of its third version.
TEST(Layerwise, Lamb) {
  const Json config = {{"name", "lamb"}, {"lr", 0.05}, {"weight_decay", 0.1}, {"eps", 1e-5}};
  expect_follows(config, 1e-5, [](Exact& t, int step) {
    Doubles u(t.w.size());
    for (std::size_t i = 0; i < u.size(); ++i) {
      t.m[i] = 0.9 * t.m[i] + 0.1 * t.g[i];
      t.v[i] = 0.999 * t.v[i] + 0.001 * t.g[i] * t.g[i];
      const double mean = t.m[i] / (1 - std::pow(0.9, step));
      const double square = t.v[i] / (1 - std::pow(0.999, step));
      u[i] = mean / (std::sqrt(square) + 1e-5) + 0.1 * t.w[i];
    }
    const double trust = norm(t.w) / norm(u);
    for (std::size_t i = 0; i < u.size(); ++i) t.w[i] -= 0.05 * trust * u[i];
  });
}

/// arXiv 1708.03888, Algorithm 1; biases as in SGD without weight decay.
TEST(Layerwise, Lars) {
  const Json config = {{"name", "lars"}, {"lr", 2}, {"weight_decay", 0.1}, {"coefficient", 0.01}};
  expect_follows(config, 1e-5, [](Exact& t, int) {
    const bool layer = t.rows > 1;
    const double decay = layer ? 0.1 : 0;
    const double local = layer ? 0.01 * norm(t.w) / (norm(t.g) + decay * norm(t.w)) : 1;
    for (std::size_t i = 0; i < t.w.size(); ++i) {
      t.v[i] = 0.9 * t.v[i] + 2 * local * (t.g[i] + decay * t.w[i]);
      t.w[i] -= t.v[i];
    }
  });
}

/// Row-major a [m, k] times b [k, n].
Doubles product(const Doubles& a, const Doubles& b, std::size_t m, std::size_t k, std::size_t n) {
  Doubles c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t l = 0; l < n; ++l) c[i * n + l] += a[i * k + j] * b[j * n + l];
  return c;
}

Doubles transposed(const Doubles& x, std::size_t rows, std::size_t columns) {
  Doubles result(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = x[i * columns + j];
  return result;
}

/// The iteration as its author writes it: a tall matrix is transposed first.
Doubles newton_schulz(Doubles x, std::size_t rows, std::size_t columns, int steps) {
  if (rows > columns)
    return transposed(newton_schulz(transposed(x, rows, columns), columns, rows, steps), columns,
                      rows);
  const double scale = norm(x) + 1e-7;
  for (double& value : x) value /= scale;
  for (int step = 0; step < steps; ++step) {
    const Doubles a = product(x, transposed(x, rows, columns), rows, columns, rows);
    Doubles b = product(a, a, rows, rows, rows);
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = -4.7750 * a[i] + 2.0315 * b[i];
    const Doubles bx = product(b, x, rows, rows, columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3.4445 * x[i] + bx[i];
  }
  return x;
}

/// arXiv 2502.16982, equations 1 to 4, with Nesterov's momentum as in its code.
TEST(Layerwise, Muon) {
  const Json config = {{"name", "muon"}, {"lr", 0.05}, {"weight_decay", 0.2}, {"momentum", 0.8}};
  expect_follows(config, 2e-4, [](Exact& t, int step) {
    Doubles update(t.w.size());
    if (t.rows == 1) {
      for (std::size_t i = 0; i < update.size(); ++i) {
        t.m[i] = 0.9 * t.m[i] + 0.1 * t.g[i];
        t.v[i] = 0.95 * t.v[i] + 0.05 * t.g[i] * t.g[i];
        const double square = t.v[i] / (1 - std::pow(0.95, step));
        update[i] = t.m[i] / (1 - std::pow(0.9, step)) / (std::sqrt(square) + 1e-8);
      }
    } else {
      for (std::size_t i = 0; i < update.size(); ++i) {
        t.m[i] = 0.8 * t.m[i] + t.g[i];
        update[i] = t.g[i] + 0.8 * t.m[i];
      }
      update = newton_schulz(update, t.rows, t.columns, 5);
      for (double& u : update)
        u *= 0.2 * std::sqrt(static_cast<double>(std::max(t.rows, t.columns)));
    }
    for (std::size_t i = 0; i < update.size(); ++i)
      t.w[i] = (1 - 0.05 * 0.2) * t.w[i] - 0.05 * update[i];
  });
}

/// The polynomial takes all singular values that are not tiny into a band around 1, so that the
/// update has nearly the root mean square of AdamW's, 0.2.
TEST(Layerwise, MuonsUpdateHasTheRootMeanSquareOfAdamW) {
  HostDevice host;
  LoneRank rank(host);
  MixedTensors model(host);
  model.bucketize(0);
  host.fill(model.weights(), 0);
  model.draw_gradients(1);
  const auto optimizer = make_optimizer({{"name", "muon"}, {"lr", 1}}, rank.ctx, model);
  for (Bucket& bucket : model.buckets()) {
    optimizer->step(rank.ctx, bucket);
    const auto [rows, columns] = MixedTensors::shapes()[static_cast<std::size_t>(bucket.index)];
    if (std::min(rows, columns) < 16) continue;
    const double rms =
        norm(doubles(bucket.weight)) / std::sqrt(static_cast<double>(bucket.weight.numel()));
    EXPECT_NEAR(rms, 0.2, 0.06) << rows << " x " << columns;
  }
}

/// The factor is 1 where a norm is 0: of the weights of the first tensor, of the update of the
/// second.
TEST(Layerwise, NormsMayBeZero) {
  HostDevice host;
  const Tensor w = host.empty(4), g = host.empty(4), m = host.empty(4), v = host.empty(4);
  const TensorPlace halves[] = {{0, 2, 0}, {2, 2, 0}};
  for (const Tensor& x : {w, g, m, v}) host.fill(x, 0);
  host.fill(g.slice(0, 2), 3);
  host.fill(w.slice(2, 2), 7);
  const LambStep lamb{.lr = 0.5f, .correction1 = 0.1f, .correction2 = 0.001f, .weight_decay = 0};
  host.update_each(lamb, w, g, std::vector{m, v}, halves);
  for (const std::size_t i : {0u, 1u}) EXPECT_NEAR(w.floats()[i], -0.5, 1e-5);
  for (const std::size_t i : {2u, 3u}) EXPECT_EQ(w.floats()[i], 7);
  host.fill(w, 0);
  host.fill(m, 0);
  host.update_each(LarsStep{.lr = 0.5f}, w, g, std::vector{m}, halves);
  EXPECT_EQ(w.floats()[0], -1.5f);
}

TEST(Layerwise, TensorsMustCoverTheBucket) {
  HostDevice host;
  const Tensor x = host.empty(4);
  const std::vector<Tensor> states = {x};
  for (const std::vector<TensorPlace>& tensors :
       {std::vector<TensorPlace>{}, {{0, 3, 0}}, {{0, 2, 0}, {3, 1, 0}}})
    EXPECT_THROW(host.update_each(LarsStep{}, x, x, states, tensors), InvariantError);
  EXPECT_THROW(host.update_each(LambStep{}, x, x, states, std::vector<TensorPlace>{{0, 4, 0}}),
               InvariantError);
}

TEST(Layerwise, PhantomsAreChargedLikeValues) {
  HostDevice host;
  NullDevice null;
  for (const char* name : {"lamb", "lars", "muon"}) {
    std::vector<std::vector<Cost>> charged;
    for (Device* inner : {static_cast<Device*>(&host), static_cast<Device*>(&null)}) {
      LoneRank timed(*inner);
      TimedDevice device(*inner, timed.stream);
      timed.ctx.device = &device;
      MixedTensors model(*inner);
      model.bucketize(4000);
      const auto optimizer = make_optimizer(name, timed.ctx, model);
      for (Bucket& bucket : model.buckets()) optimizer->step(timed.ctx, bucket);
      charged.push_back(timed.stream.charged);
    }
    ASSERT_EQ(charged[0].size(), charged[1].size()) << name;
    for (std::size_t i = 0; i < charged[0].size(); ++i) {
      EXPECT_EQ(charged[0][i].bytes, charged[1][i].bytes) << name;
      EXPECT_EQ(charged[0][i].flops, charged[1][i].flops) << name;
    }
  }
}

/// A bucket costs three launches, whatever the number of its tensors.
TEST(Layerwise, TheStepIsChargedByItsPassesOverMemory) {
  HostDevice host;
  for (const auto& [name, passes] : {std::pair{"lamb", 10}, std::pair{"lars", 7}}) {
    LoneRank timed(host);
    TimedDevice device(host, timed.stream);
    timed.ctx.device = &device;
    MixedTensors model(host);
    model.bucketize(1 << 20);
    const auto optimizer = make_optimizer(name, timed.ctx, model);
    timed.stream.charged.clear();
    optimizer->step(timed.ctx, model.buckets()[0]);
    ASSERT_EQ(timed.stream.charged.size(), 1u);
    const Cost cost = timed.stream.charged[0];
    EXPECT_EQ(cost.bytes, passes * static_cast<double>(model.weights().nbytes()));
    EXPECT_EQ(cost.launches, 3);
  }
}

}  // namespace
}  // namespace trigram::test::layerwise_test
