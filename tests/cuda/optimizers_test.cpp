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
    for (const State& s : states) all.push_back({s.w.gpu, s.g.gpu, s.m.gpu, s.v.gpu});
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

constexpr SgdStep kSgd[] = {{.lr = 0.1f},
                            {.lr = 0.1f, .weight_decay = 0.01f},
                            {.lr = 0.3f, .momentum = 0.9f},
                            {.lr = 0.3f, .momentum = 0.9f, .weight_decay = 1e-4f}};
constexpr AdamStep kAdam[] = {
    {.lr = 0.01f, .correction1 = 0.1f, .correction2 = 0.001f},
    {.lr = 0.01f, .correction1 = 0.5f, .correction2 = 0.01f, .weight_decay = 0.1f},
    {.lr = 0.01f, .beta1 = 0.8f, .eps = 1e-3f, .decoupled_weight_decay = 0.01f}};

TEST_F(GpuOptimizers, SgdEqualsTheHosts) {
  for (const SgdStep& step : kSgd) {
    for (const std::size_t n : {0, 1, 6, 100, 1027}) {
      const State s = state(n, n % 4);
      for (int repetition = 0; repetition < 2; ++repetition) {
        host.sgd(step, s.w.host, s.g.host, s.m.host);
        gpu.sgd(step, s.w.gpu, s.g.gpu, s.m.gpu);
      }
      expect_same_state(s);
    }
  }
  const State s = state(10, 0);
  gpu.sgd({.lr = 1}, s.w.gpu, s.g.gpu, Tensor{});
  host.sgd({.lr = 1}, s.w.host, s.g.host, Tensor{});
  expect_same_state(s);
}

TEST_F(GpuOptimizers, AdamEqualsTheHosts) {
  for (const AdamStep& step : kAdam) {
    for (const std::size_t n : {0, 1, 6, 100, 1027}) {
      const State s = state(n, n % 4);
      for (int repetition = 0; repetition < 2; ++repetition) {
        host.adam(step, s.w.host, s.g.host, s.m.host, s.v.host);
        gpu.adam(step, s.w.gpu, s.g.gpu, s.m.gpu, s.v.gpu);
      }
      expect_same_state(s);
    }
  }
}

TEST_F(GpuOptimizers, ManyTensorsInOneLaunchGiveTheSameResults) {
  for (const SgdStep& step : kSgd) {
    const auto states = network();
    MultiTensor(gpu, operands(states)).sgd(step);
    for (const State& s : states) {
      host.sgd(step, s.w.host, s.g.host, s.m.host);
      expect_same_state(s);
    }
  }
  for (const AdamStep& step : kAdam) {
    const auto states = network();
    MultiTensor(gpu, operands(states)).adam(step);
    for (const State& s : states) {
      host.adam(step, s.w.host, s.g.host, s.m.host, s.v.host);
      expect_same_state(s);
    }
  }
}

TEST_F(GpuOptimizers, MissingMomentsAreAnErrorOnlyWhenTheyAreNeeded) {
  const State s = state(10, 0);
  const std::vector<MultiTensor::Operands> tensors = {{s.w.gpu, s.g.gpu, {}, {}}};
  const MultiTensor all(gpu, tensors);
  all.sgd({.lr = 0.5f});
  host.sgd({.lr = 0.5f}, s.w.host, s.g.host, {});
  expect_same_state(s);
  EXPECT_THROW(all.sgd({.momentum = 0.9f}), InvariantError);
  EXPECT_THROW(all.adam({}), InvariantError);
  MultiTensor(gpu, {}).sgd({.lr = 1});  // an empty list
}

}  // namespace
}  // namespace trigram::optimizers_test
