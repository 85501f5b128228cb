#include "core/device/update_kernels.h"

#include "core/device/norm_order.h"
#include "core/device/ordered_norms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/device/update_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "hwy/highway.h"

// The loops call the scalar functions of a rule, which are inlined, and the compiler vectorises
// them with the instructions of each target.
HWY_BEFORE_NAMESPACE();
namespace trigram::update_kernels::HWY_NAMESPACE {

/// The states of one element, loaded before and stored after it is computed.
template <class Rule>
struct Element {
  static constexpr std::size_t kCount = Rule::kStates.size();
  HWY_INLINE static void Load(const States& states, std::size_t i, float (&s)[kMostStates]) {
    if constexpr (kCount > 0) s[0] = states[0][i];
    if constexpr (kCount > 1) s[1] = states[1][i];
  }
  HWY_INLINE static void Store(const States& states, std::size_t i, const float (&s)[kMostStates]) {
    if constexpr (kCount > 0) states[0][i] = s[0];
    if constexpr (kCount > 1) states[1][i] = s[1];
  }
};

template <class Rule>
void UpdateAll(std::size_t n, const Rule rule, float* w, const float* g, const States states) {
  for (std::size_t i = 0; i < n; ++i) {
    float weight = w[i], s[kMostStates] = {};
    Element<Rule>::Load(states, i, s);
    update_element(rule, weight, g[i], s);
    Element<Rule>::Store(states, i, s);
    w[i] = weight;
  }
}

template <class Rule>
void MeasureAll(std::size_t n, const Rule rule, const float* w, const float* g, const States states,
                double* HWY_RESTRICT squares_w, double* HWY_RESTRICT squares_u) {
  for (std::size_t i = 0; i < n; ++i) {
    float s[kMostStates] = {};
    Element<Rule>::Load(states, i, s);
    const auto u = static_cast<double>(measure_element(rule, w[i], g[i], s));
    if constexpr (Rule::kMeasureChangesStates) Element<Rule>::Store(states, i, s);
    squares_w[i] += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    squares_u[i] += u * u;
  }
}

template <class Rule>
void ApplyAll(std::size_t n, const Rule rule, float trust, float* w, const float* g,
              const States states) {
  for (std::size_t i = 0; i < n; ++i) {
    float weight = w[i], s[kMostStates] = {};
    Element<Rule>::Load(states, i, s);
    apply_element(rule, trust, weight, g[i], s);
    if constexpr (Rule::kApplyChangesStates) Element<Rule>::Store(states, i, s);
    w[i] = weight;
  }
}

void Update(std::size_t n, const UpdateRule& rule, float* w, const float* g, const States& states) {
  std::visit([&](const auto& r) { UpdateAll(n, r, w, g, states); }, rule);
}
void Measure(std::size_t n, const TensorRule& rule, const float* w, const float* g,
             const States& states, double* squares_w, double* squares_u) {
  std::visit([&](const auto& r) { MeasureAll(n, r, w, g, states, squares_w, squares_u); }, rule);
}
void Apply(std::size_t n, const TensorRule& rule, float trust, float* w, const float* g,
           const States& states) {
  std::visit([&](const auto& r) { ApplyAll(n, r, trust, w, g, states); }, rule);
}

}  // namespace trigram::update_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::update_kernels {

HWY_EXPORT(Update);
HWY_EXPORT(Measure);
HWY_EXPORT(Apply);

void update(std::size_t n, const UpdateRule& rule, float* w, const float* g, const States& states) {
  HWY_DYNAMIC_DISPATCH(Update)(n, rule, w, g, states);
}

void update_tensor(std::size_t n, const TensorRule& rule, float* w, const float* g,
                   const States& states) {
  const auto measure = HWY_DYNAMIC_DISPATCH(Measure);
  const auto apply = HWY_DYNAMIC_DISPATCH(Apply);
  const auto from = [&states](std::size_t begin) {
    States moved = states;
    for (float*& state : moved)
      if (state) state += begin;
    return moved;
  };
  const auto [norm_w, norm_u] =
      norm_order::norms<2>(n, [&](std::size_t begin, std::size_t count, auto& sums) {
        measure(count, rule, w + begin, g + begin, from(begin), sums[0], sums[1]);
      });
  const double weights = norm_w, updates = norm_u;  // lambdas cannot capture structured bindings
  const float trust = std::visit([&](const auto& r) { return r.trust(weights, updates); }, rule);
  // From the end, whose elements are still in the caches.
  constexpr std::size_t kBlock = 1 << 14;
  for (std::size_t end = n; end > 0;) {
    const std::size_t begin = (end - 1) / kBlock * kBlock;
    apply(end - begin, rule, trust, w + begin, g + begin, from(begin));
    end = begin;
  }
}

}  // namespace trigram::update_kernels
#endif
