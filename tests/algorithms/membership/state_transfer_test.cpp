// The state of a worker is the same, bit for bit, after it has passed through the network.
#include "algorithms/membership/state_transfer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "algorithms/execution/steps.h"
#include "core/optimizers/registry.h"
#include "tests/support/affine_workload.h"
#include "tests/support/worlds.h"

namespace trigram::test::state_transfer_test {
namespace {

/// The bytes of everything that it is shown.
class AllBytes final : public StateVisitor {
 public:
  void tensor(const std::string&, Tensor& x) override { add(std::as_bytes(x.floats())); }
  void bytes(const std::string&, std::span<std::byte> value) override { add(value); }
  std::string all;

 private:
  void add(std::span<const std::byte> value) {
    all.append(reinterpret_cast<const char*>(value.data()), value.size());
  }
};

std::string state_of(Run& run, Takes what) {
  AllBytes bytes;
  if (what == Takes::everything) {
    Tensor weights = run.workload.weights();
    bytes.tensor("", weights);
    run.optimizer.visit_state(bytes);
  }
  run.state.visit(bytes);
  return bytes.all;
}

class StateTransferTest : public NamedWorldTest {
 protected:
  /// The state of two ranks after rank 0 has trained and passed its state on to rank 1.
  static std::vector<std::string> states(Takes what, Takes shown, bool loses) {
    return results_in_world(GetParam(), flat_cluster(2), [=](Context ctx) {
      AffineWorkload workload(ctx, 10, 0.5);
      workload.tilt = 0.25;
      workload.bucketize(0);
      const Json adam = {{"name", "adam"}, {"lr", 0.01}};
      auto optimizer =
          find_component(optimizers(), "optimizer", adam, "")
              .make(resolve_component(optimizers(), "optimizer", adam, ""), ctx, workload, 10);
      Steps steps(ctx.world_rank == 0 ? 5 : 2);
      trigram::Run run{workload, *optimizer, steps, {}};
      const Tensor kept = run.state.zeros_like(ctx, "kept", workload.weights());
      for (long t : steps) {
        local_step(ctx, run);
        ctx.device->copy(kept, workload.weights());
        run.state.value<long>("steps") = t;
      }
      if (ctx.world_rank == 0) {
        send_state(ctx, run, 1, what);
      } else {
        if (loses) lose_state(ctx, run);
        receive_state(ctx, run, 0, what);
      }
      return state_of(run, shown);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, StateTransferTest, every_named_world(), named_world_test_name);

TEST_P(StateTransferTest, brings_everything_bit_by_bit_after_a_loss) {
  const auto bytes = states(Takes::everything, Takes::everything, true);
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ(bytes[0], bytes[1]);
  // Weights, two moments and the kept tensor, of 10 floats each, and numbers.
  EXPECT_GT(bytes[0].size(), 4 * 10 * sizeof(float));
}

TEST_P(StateTransferTest, leaves_the_weights_and_the_optimizer_if_only_the_algorithm_is_taken) {
  const auto everything = states(Takes::algorithm, Takes::everything, false),
             algorithm = states(Takes::algorithm, Takes::algorithm, false);
  ASSERT_EQ(everything.size(), 2u);
  EXPECT_NE(everything[0], everything[1]);
  EXPECT_EQ(algorithm[0], algorithm[1]);
}

TEST_P(StateTransferTest, a_loss_leaves_nothing_that_can_be_used) {
  const auto first = results_in_world(GetParam(), flat_cluster(1), [](Context ctx) {
    AffineWorkload workload(ctx, 3, 0.5);
    workload.bucketize(0);
    const Json sgd = {{"name", "sgd"}, {"lr", 0.1}};
    auto optimizer =
        find_component(optimizers(), "optimizer", sgd, "")
            .make(resolve_component(optimizers(), "optimizer", sgd, ""), ctx, workload, 10);
    Steps steps(1);
    trigram::Run run{workload, *optimizer, steps, {}};
    run.state.value<long>("count") = 7;
    lose_state(ctx, run);
    const bool lost = std::isnan(workload.weights().floats()[2]);
    return std::string(lost && run.state.value<long>("count") == 0 ? "lost" : "kept");
  });
  EXPECT_EQ(first, std::vector<std::string>{"lost"});
}

}  // namespace
}  // namespace trigram::test::state_transfer_test
