#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <variant>

/// The update rules of optimizers, each written once: host loops, GPU kernels and the prices of the
/// simulator use the same struct. A struct is one step with its hyperparameters. It has
///
///   kStates  the names of the state tensors, which are as long as the weights,
///   kFlops   the floating-point operations for one element, which the simulator charges,
///
/// and functions of one element of the weight w, the gradient g and the states. The functions round
/// after every operation, because the project is compiled without fused multiply-adds. So loops of
/// any vector width, on host and GPU, give the same bits.
namespace trigram {

inline constexpr std::size_t kMostStates = 2;

template <class... Names>
constexpr auto state_names(Names... names) {
  return std::array<const char*, sizeof...(Names)>{names...};
}

/// SGD: w -= lr * (g + weight_decay * w).
struct SgdStep {
  static constexpr auto kStates = state_names();
  static constexpr double kFlops = 4;
  float lr = 0;
  float weight_decay = 0;
  constexpr void operator()(float& w, float g) const { w = w - lr * (g + weight_decay * w); }
};

/// SGD with heavy-ball momentum (Polyak, 1964): m = momentum * m + (g + weight_decay * w);
/// w -= lr * m.
struct MomentumStep {
  static constexpr auto kStates = state_names("momentum");
  static constexpr double kFlops = 6;
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  constexpr void operator()(float& w, float g, float& m) const {
    m = momentum * m + (g + weight_decay * w);
    w = w - lr * m;
  }
};

/// Adam (arXiv 1412.6980, Algorithm 1): m and v are moving averages of g and g^2,
/// w -= lr * (m / correction1) / (sqrt(v / correction2) + eps). `weight_decay` is added to the
/// gradient; `decoupled_weight_decay` (AdamW, arXiv 1711.05101) shrinks w by lr times itself.
struct AdamStep {
  static constexpr auto kStates = state_names("mean", "variance");
  static constexpr double kFlops = 18;
  float lr = 0;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float eps = 1e-8f;
  float correction1 = 1;  // 1 - beta1^t
  float correction2 = 1;  // 1 - beta2^t
  float weight_decay = 0;
  float decoupled_weight_decay = 0;
  constexpr void operator()(float& w, float g, float& m, float& v) const {
    const float gradient = g + weight_decay * w;
    m = beta1 * m + (1 - beta1) * gradient;
    v = beta2 * v + (1 - beta2) * (gradient * gradient);
    const float update = (m / correction1) / (std::sqrt(v / correction2) + eps);
    w = (w - lr * decoupled_weight_decay * w) - lr * update;
  }
};

/// RMSprop (Tieleman and Hinton, Neural Networks for Machine Learning, lecture 6.5, 2012): v is a
/// moving average of g^2, w -= lr * g / (sqrt(v) + eps). `weight_decay` is added to the gradient.
struct RmsPropStep {
  static constexpr auto kStates = state_names("mean_square");
  static constexpr double kFlops = 11;
  float lr = 0;
  float decay = 0.9f;
  float eps = 1e-8f;
  float weight_decay = 0;
  constexpr void operator()(float& w, float g, float& v) const {
    const float gradient = g + weight_decay * w;
    v = decay * v + (1 - decay) * (gradient * gradient);
    w = w - lr * (gradient / (std::sqrt(v) + eps));
  }
};

/// Adagrad with a diagonal matrix (Duchi, Hazan and Singer, JMLR 12, 2011, Figure 1): s is the sum
/// of g^2, w -= lr * g / (sqrt(s) + eps). `weight_decay` is added to the gradient.
struct AdagradStep {
  static constexpr auto kStates = state_names("sum_of_squares");
  static constexpr double kFlops = 9;
  float lr = 0;
  float eps = 1e-10f;
  float weight_decay = 0;
  constexpr void operator()(float& w, float g, float& s) const {
    const float gradient = g + weight_decay * w;
    s = s + gradient * gradient;
    w = w - lr * (gradient / (std::sqrt(s) + eps));
  }
};

/// Lion (arXiv 2302.06675, Algorithm 2): w -= lr * (sign(beta1 * m + (1 - beta1) * g) +
/// weight_decay * w), then m = beta2 * m + (1 - beta2) * g. The sign of 0 is 0.
struct LionStep {
  static constexpr auto kStates = state_names("momentum");
  static constexpr double kFlops = 12;
  float lr = 0;
  float beta1 = 0.9f;
  float beta2 = 0.99f;
  float weight_decay = 0;
  constexpr void operator()(float& w, float g, float& m) const {
    const float direction = beta1 * m + (1 - beta1) * g;
    const float sign = direction > 0 ? 1.0f : direction < 0 ? -1.0f : 0.0f;
    w = (w - lr * weight_decay * w) - lr * sign;
    m = beta2 * m + (1 - beta2) * g;
  }
};

/// A rule whose update of an element depends on this element alone.
using UpdateRule =
    std::variant<SgdStep, MomentumStep, AdamStep, RmsPropStep, AdagradStep, LionStep>;

/// Calls an element-wise rule with the states of one element, s[0], s[1] ...
template <class Rule>
constexpr void update_element(const Rule& rule, float& w, float g, float* s) {
  if constexpr (Rule::kStates.size() == 0) rule(w, g);
  else if constexpr (Rule::kStates.size() == 1) rule(w, g, s[0]);
  else rule(w, g, s[0], s[1]);
}

/// LAMB (arXiv 1904.00962, Algorithm 2) without clipping: m and v as in Adam, u = (m / correction1)
/// / (sqrt(v / correction2) + eps) + weight_decay * w, w -= lr * (|w| / |u|) * u, with the norms of
/// one tensor. The factor is 1 if a norm is 0.
///
/// A rule that scales the update of a tensor by norms has, in place of the call operator,
/// `measure`, which updates states and returns the element whose norm is taken; `trust`, which
/// computes the factor from the norms of w and of these elements; and `apply`, which updates the
/// weight. `for_vectors` is the rule for biases and for the scale and shift of normalisations.
/// kPasses is the number of times that a step reads or writes a tensor of the length of the
/// weights.
struct LambStep {
  static constexpr auto kStates = state_names("mean", "variance");
  static constexpr double kFlops = 36;
  static constexpr double kPasses = 10;  // reads w g m v, writes m v; reads w m v, writes w
  static constexpr bool kMeasureChangesStates = true, kApplyChangesStates = false;
  float lr = 0;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float eps = 1e-6f;
  float correction1 = 1;  // 1 - beta1^t
  float correction2 = 1;  // 1 - beta2^t
  float weight_decay = 0.01f;
  constexpr float direction(float w, float m, float v) const {
    return (m * (1 / correction1)) / (std::sqrt(v * (1 / correction2)) + eps) + weight_decay * w;
  }
  constexpr float measure(float w, float g, float& m, float& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * (g * g);
    return direction(w, m, v);
  }
  constexpr float trust(double norm_w, double norm_u) const {
    return norm_w > 0 && norm_u > 0 ? static_cast<float>(norm_w / norm_u) : 1.0f;
  }
  constexpr void apply(float trust, float& w, float /*g*/, float& m, float& v) const {
    w = w - lr * trust * direction(w, m, v);
  }
  constexpr LambStep for_vectors() const { return *this; }
};

/// LARS (arXiv 1708.03888, Algorithm 1): m = momentum * m + lr * trust * (g + weight_decay * w),
/// w -= m, where trust = coefficient * |w| / (|g| + weight_decay * |w|), with the norms of one
/// tensor; 1 if a norm is 0. Vectors have trust 1 and no weight decay.
struct LarsStep {
  static constexpr auto kStates = state_names("momentum");
  static constexpr double kFlops = 11;
  static constexpr double kPasses = 7;  // reads w g; reads w g m, writes w m
  static constexpr bool kMeasureChangesStates = false, kApplyChangesStates = true;
  float lr = 0;
  float momentum = 0.9f;
  float weight_decay = 0;
  float coefficient = 0.001f;
  constexpr float measure(float /*w*/, float g, float& /*m*/) const { return g; }
  constexpr float trust(double norm_w, double norm_g) const {
    if (!(coefficient > 0 && norm_w > 0 && norm_g > 0)) return 1;
    return static_cast<float>(static_cast<double>(coefficient) * norm_w /
                              (norm_g + static_cast<double>(weight_decay) * norm_w));
  }
  constexpr void apply(float trust, float& w, float g, float& m) const {
    m = momentum * m + lr * trust * (g + weight_decay * w);
    w = w - m;
  }
  constexpr LarsStep for_vectors() const {
    LarsStep plain = *this;
    plain.weight_decay = plain.coefficient = 0;
    return plain;
  }
};

/// A rule that needs norms of single tensors.
using TensorRule = std::variant<LambStep, LarsStep>;

template <class Rule>
constexpr float measure_element(const Rule& rule, float w, float g, float* s) {
  if constexpr (Rule::kStates.size() == 1) return rule.measure(w, g, s[0]);
  else return rule.measure(w, g, s[0], s[1]);
}
template <class Rule>
constexpr void apply_element(const Rule& rule, float trust, float& w, float g, float* s) {
  if constexpr (Rule::kStates.size() == 1) rule.apply(trust, w, g, s[0]);
  else rule.apply(trust, w, g, s[0], s[1]);
}

/// A tensor of a model within a flat vector that holds several, in elements.
struct TensorPlace {
  std::size_t begin = 0, numel = 0;
  /// The tensor is a row-major matrix of this many rows, one for each output of its layer; 1 if it
  /// is a vector, such as a bias, or a table that multiplies nothing, such as an embedding; 0 if
  /// its shape is unknown.
  std::size_t rows = 0;
  constexpr bool is_vector() const { return rows == 1; }
};

}  // namespace trigram
