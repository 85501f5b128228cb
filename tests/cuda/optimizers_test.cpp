// Compares the optimizers of CudaDevice with those of HostDevice: tensor by tensor, and many
// tensors in one launch.

#include <gtest/gtest.h>

#include "core/check.h"
#include "cuda/device/multi_tensor.h"
#include "tests/cuda/gpu_fixture.h"

namespace trigram::optimizers_test {
namespace {

class GpuOptimizers : public GpuTest {
 protected:
  struct State {
    Twin w, g, m, v;
  };
  State state(std::size_t n, std::size_t offset) {
    return {twin(numbers(n), DType::f32, offset), twin(numbers(n, 5), DType::f32, offset),
            twin(tame_numbers(n, 6), DType::f32, offset),
            twin(std::vector<float>(n, 0.25f), DType::f32, (offset + 1) % 4)};
  }
  void expect_same_state(const State& s) {
    expect_same(s.w, "w");
    expect_same(s.g, "g");
    expect_same(s.m, "m");
    expect_same(s.v, "v");
  }
  static std::vector<MultiTensor::Operands> operands(const std::vector<State>& states) {
    std::vector<MultiTensor::Operands> all;
    for (const State& s : states) all.push_back({s.w.gpu, s.g.gpu, {s.m.gpu, s.v.gpu}});
    return all;
  }
  /// Tensors of many sizes, as in a network. Some have several chunks (cuda/kernels/optimizers.h).
  std::vector<State> network() {
    std::vector<State> states;
    std::size_t offset = 0;
    for (const std::size_t n : {64, 1, 0, 4096, 9409, 3, 4097, 512, 8192}) {
      states.push_back(state(n, offset++ % 4));
    }
    return states;
  }
};

const UpdateRule kRules[] = {
    SgdStep{.lr = 0.1f},
    SgdStep{.lr = 0.1f, .weight_decay = 0.01f},
    MomentumStep{.lr = 0.3f, .momentum = 0.9f},
    MomentumStep{.lr = 0.3f, .momentum = 0.9f, .weight_decay = 1e-4f},
    AdamStep{.lr = 0.01f, .correction1 = 0.1f, .correction2 = 0.001f},
    AdamStep{.lr = 0.01f, .correction1 = 0.5f, .correction2 = 0.01f, .weight_decay = 0.1f},
    AdamStep{.lr = 0.01f, .beta1 = 0.8f, .eps = 1e-3f, .decoupled_weight_decay = 0.01f},
    RmsPropStep{.lr = 0.01f, .weight_decay = 0.1f},
    AdagradStep{.lr = 0.01f, .weight_decay = 0.1f},
    LionStep{.lr = 0.01f, .weight_decay = 0.1f}};
static_assert(std::variant_size_v<UpdateRule> == 6, "test the new rule, too");

std::size_t states_of(const UpdateRule& rule) {
  return std::visit([](const auto& r) { return r.kStates.size(); }, rule);
}

TEST_F(GpuOptimizers, EveryRuleGivesTheHostsBits) {
  for (const UpdateRule& rule : kRules) {
    for (const std::size_t n : {0, 1, 6, 100, 1027}) {
      // RMSprop's and Adagrad's state is a square.
      const State s = state(n, n % 4);
      const bool is_square = rule.index() == 3 || rule.index() == 4;
      const Twin& first = is_square ? s.v : s.m;
      const std::vector<Tensor> host_states = {first.host, s.v.host},
                                gpu_states = {first.gpu, s.v.gpu};
      const std::size_t count = states_of(rule);
      for (int repetition = 0; repetition < 2; ++repetition) {
        host.update(rule, s.w.host, s.g.host, std::span(host_states).first(count));
        gpu.update(rule, s.w.gpu, s.g.gpu, std::span(gpu_states).first(count));
      }
      expect_same_state(s);
    }
  }
}

TEST_F(GpuOptimizers, ManyTensorsInOneLaunchGiveTheSameResults) {
  for (const UpdateRule& rule : kRules) {
    const auto states = network();
    MultiTensor(gpu, operands(states)).update(rule);
    for (const State& s : states) {
      const std::vector<Tensor> own = {s.m.host, s.v.host};
      host.update(rule, s.w.host, s.g.host, std::span(own).first(states_of(rule)));
      expect_same_state(s);
    }
  }
}

TEST_F(GpuOptimizers, MissingStatesAreAnErrorOnlyWhenTheyAreNeeded) {
  const State s = state(10, 0);
  const std::vector<MultiTensor::Operands> tensors = {{s.w.gpu, s.g.gpu, {}}};
  const MultiTensor all(gpu, tensors);
  all.update(SgdStep{.lr = 0.5f});
  host.update(SgdStep{.lr = 0.5f}, s.w.host, s.g.host);
  expect_same_state(s);
  EXPECT_THROW(all.update(MomentumStep{}), InvariantError);
  EXPECT_THROW(all.update(AdamStep{}), InvariantError);
  MultiTensor(gpu, {}).update(AdamStep{.lr = 1});  // an empty list
}

/// Rules with norms of tensors, over a bucket that holds many. One tensor has more ranges than one
/// block has threads. Norms are summed in the same order, so that the bits are the same.
TEST_F(GpuOptimizers, NormsOfTensorsGiveTheHostsBits) {
  std::vector<TensorPlace> tensors;
  std::size_t n = 0;
  for (const std::size_t length : {64, 1, 0, 4096, 9409, 3, 1'100'001, 512, 8192, 5}) {
    tensors.push_back({n, length, length % 2 + 1});
    n += length;
  }
  for (const TensorRule& rule :
       {TensorRule(LambStep{.lr = 0.01f, .correction1 = 0.1f, .correction2 = 0.001f}),
        TensorRule(LambStep{.lr = 0.01f, .weight_decay = 0}),
        TensorRule(LarsStep{.lr = 0.5f, .weight_decay = 0.01f})}) {
    for (const std::size_t offset : {0, 3}) {
      const State s = {twin(tame_numbers(n, 4), DType::f32, offset),
                       twin(tame_numbers(n, 5), DType::f32, offset),
                       twin(tame_numbers(n, 6), DType::f32, offset),
                       twin(std::vector<float>(n, 0.25f), DType::f32, offset)};
      const std::size_t count = std::visit([](const auto& r) { return r.kStates.size(); }, rule);
      const std::vector<Tensor> host_states = {s.m.host, s.v.host}, gpu_states = {s.m.gpu, s.v.gpu};
      for (int repetition = 0; repetition < 2; ++repetition) {
        host.update_each(rule, s.w.host, s.g.host, std::span(host_states).first(count), tensors);
        gpu.update_each(rule, s.w.gpu, s.g.gpu, std::span(gpu_states).first(count), tensors);
      }
      expect_same_state(s);
    }
  }
  gpu.update_each(LarsStep{}, gpu.empty(0), gpu.empty(0), std::vector{gpu.empty(0)}, {});
}

}  // namespace
}  // namespace trigram::optimizers_test
