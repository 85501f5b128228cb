#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/optimizers/rule_optimizer.h"

namespace trigram {
namespace {

struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;
  double weight_decay = 0.1;
  std::int64_t newton_schulz_steps = 5;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  Schedule schedule;
};

FieldTable<MuonOptions> muon_fields() {
  using O = MuonOptions;
  constexpr double kBelowOne = 0.9999999;
  return FieldTable<O>{}
      .field("lr", &O::lr, number(0, 1e6), "learning rate, as of adamw, for all tensors")
      .field("momentum", &O::momentum, number(0, kBelowOne),
             "share of the previous momentum of a matrix that is kept; Nesterov's form")
      .field("weight_decay", &O::weight_decay, number(0, 1e6),
             "each step also shrinks the weight by lr * weight_decay of its value")
      .field("newton_schulz_steps", &O::newton_schulz_steps, integer(1, 100),
             "iterations that make the singular values of an update nearly equal")
      .field("beta1", &O::beta1, number(0, kBelowOne), "other tensors: decay of adamw's mean")
      .field("beta2", &O::beta2, number(0, kBelowOne), "other tensors: decay of adamw's variance")
      .field("eps", &O::eps, number(0, 1),
             "other tensors: added to the root of adamw's mean square")
      .include(&O::schedule, schedule_fields());
}

/// Coefficients of the quintic Newton-Schulz iteration X <- a X + (b A + c A^2) X, A = X X^T, from
/// Keller Jordan, "Muon: an optimizer for hidden layers in neural networks", 2024: they maximise
/// the slope at 0, and take singular values to about 0.7 .. 1.2 rather than exactly to 1.
constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f;

struct Matrix {
  std::size_t rows, columns;
  Tensor values;
};

/// Replaces all singular values of `x` by nearly 1. A is the smaller of X X^T and X^T X, so that a
/// tall matrix need not be transposed. If x is all zeros, it remains so.
Matrix orthogonalised(Device& device, Matrix x, std::int64_t iterations) {
  const auto [m, n] = std::pair(x.rows, x.columns);
  const std::size_t small = std::min(m, n);
  const bool wide = m <= n;
  NnOps& nn = device.nn();
  // The Frobenius norm is not below the spectral norm, which must be at most 1.
  const auto norm = static_cast<float>(device.norm2(x.values));
  device.axpby(1 / (norm + 1e-7f), x.values, 0, x.values);
  const Tensor a = device.empty(small * small), polynomial = device.empty(small * small);
  Tensor next = device.empty_like(x.values);
  const Gemm square = wide ? Gemm{.m = m, .n = m, .k = n, .transpose_b = true}
                           : Gemm{.m = n, .n = n, .k = m, .transpose_a = true};
  for (std::int64_t i = 0; i < iterations; ++i) {
    nn.gemm(square, x.values, x.values, 0, a);
    nn.gemm({.m = small, .n = small, .k = small}, a, a, 0, polynomial);
    device.axpby(kB, a, kC, polynomial);
    device.copy(next, x.values);
    if (wide) nn.gemm({.m = m, .n = n, .k = m}, polynomial, x.values, kA, next);
    else nn.gemm({.m = m, .n = n, .k = n}, x.values, polynomial, kA, next);
    std::swap(x.values, next);
  }
  return x;
}

/// Muon for matrices in the form of arXiv 2502.16982: M = momentum * M + G, O = G + momentum * M
/// with its singular values made equal, W <- (1 - lr * weight_decay) W - lr * 0.2 sqrt(max(rows,
/// columns)) O. The factor gives the update the root mean square of AdamW's, so that both can share
/// lr and weight_decay. Vectors are updated by AdamW.
class Muon final : public Optimizer {
 public:
  Muon(const MuonOptions& options, const Context& ctx, Workload& workload, long steps)
      : options_(options),
        lr_(options.lr, options.schedule, ctx.world_size, steps),
        states_(workload) {
    for (const Bucket& bucket : workload.buckets()) {
      TRIGRAM_CHECK(!bucket.tensors.empty() || bucket.weight.numel() == 0,
                    "Muon needs to know the tensors of bucket {}", bucket.index);
      State& state = states_[bucket];
      state.mean = ctx.device->zeros_like(bucket.weight);
      for (const TensorPlace& tensor : bucket.tensors) {
        TRIGRAM_CHECK(tensor.rows > 0, "Muon needs the shapes of all tensors");
        state.variances.push_back(ctx.device->empty(tensor.is_vector() ? tensor.numel : 0));
        ctx.device->fill(state.variances.back(), 0);
      }
    }
  }
  void step(Context ctx, Bucket& bucket) override {
    State& state = states_[bucket];
    const float lr = learning_rate(bucket);
    ++state.steps;
    for (std::size_t i = 0; i < bucket.tensors.size(); ++i) {
      const TensorPlace& tensor = bucket.tensors[i];
      const auto part = [&](const Tensor& x) { return x.slice(tensor.begin, tensor.numel); };
      const Tensor w = part(bucket.weight), g = part(bucket.grad), mean = part(state.mean);
      if (tensor.is_vector()) {
        ctx.device->update(adamw(lr, state.steps), w, g, {mean, state.variances[i]});
      } else if (tensor.numel > 0) {
        update_matrix(*ctx.device, lr, {tensor.rows, tensor.numel / tensor.rows, w}, g, mean);
      }
    }
  }
  float learning_rate(const Bucket& bucket) const override { return lr_.at(states_[bucket].steps); }
  void rebucket(Context ctx, Workload& workload) override {
    std::vector<Tensor> variances;
    for (const State& state : states_.all())
      std::ranges::copy(state.variances, std::back_inserter(variances));
    states_.rebucket(*ctx.device, workload, [](State& state) { return std::vector{&state.mean}; });
    auto next = variances.begin();
    for (const Bucket& bucket : workload.buckets()) {
      const auto end = next + static_cast<std::ptrdiff_t>(bucket.tensors.size());
      states_[bucket].variances.assign(next, end);
      next = end;
    }
  }
  void visit_state(StateVisitor& visitor) override {
    states_.visit(visitor, [](State& state) {
      std::vector<Tensor*> vectors = {&state.mean};
      for (Tensor& variance : state.variances) vectors.push_back(&variance);
      return vectors;
    });
  }

 private:
  struct State {
    Tensor mean;                    // of gradients: Muon's momentum of matrices, AdamW's of vectors
    std::vector<Tensor> variances;  // by tensor; of length 0 for matrices
    long steps = 0;
  };

  AdamStep adamw(float lr, long steps) const {
    return {.lr = lr,
            .beta1 = static_cast<float>(options_.beta1),
            .beta2 = static_cast<float>(options_.beta2),
            .eps = static_cast<float>(options_.eps),
            .correction1 = static_cast<float>(bias_correction(options_.beta1, steps)),
            .correction2 = static_cast<float>(bias_correction(options_.beta2, steps)),
            .decoupled_weight_decay = static_cast<float>(options_.weight_decay)};
  }
  void update_matrix(Device& device, float lr, const Matrix& w, const Tensor& g, const Tensor& m) {
    const auto momentum = static_cast<float>(options_.momentum);
    device.axpby(1, g, momentum, m);
    const Tensor x = device.copy_of(g);
    device.axpby(momentum, m, 1, x);
    const Matrix update =
        orthogonalised(device, {w.rows, w.columns, x}, options_.newton_schulz_steps);
    const auto longer = static_cast<float>(std::max(w.rows, w.columns));
    device.axpby(-lr * 0.2f * std::sqrt(longer), update.values,
                 1 - lr * static_cast<float>(options_.weight_decay), w.values);
  }

  MuonOptions options_;
  LearningRate lr_;
  PerBucket<State> states_;
};

}  // namespace

OptimizerEntry muon_entry() {
  return {component<Optimizer, const Context&, Workload&, long>(
              "muon",
              "SGD with momentum whose updates of matrices are orthogonalised (arXiv 2502.16982); "
              "adamw for other tensors",
              muon_fields(),
              [](const MuonOptions& options, const Context& ctx, Workload& workload, long steps) {
                return std::make_unique<Muon>(options, ctx, workload, steps);
              }),
          [](const Json&) { return false; }, false, OptimizerEntry::Needs::shapes};
}

}  // namespace trigram
