#include "experiments/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime.h"
#include "tests/experiments/fakes.h"

namespace trigram::run_test {
namespace {

/// After its last step, rank 1 waits for a message that no rank sends.
class ForgottenMessage final : public FakeWorkload {
 public:
  ForgottenMessage() : FakeWorkload({1}) {}
  void forward(Context ctx) override {
    ctx_ = ctx;
    ++steps_;
  }
  double loss() override {
    if (ctx_.world_rank == 1 && steps_ == 2) ctx_.control->receive(7);
    return 0;
  }

 private:
  Context ctx_;
  int steps_ = 0;
};

class ForgottenMessageFactory final : public WorkloadFactory {
 public:
  void check_ranks(int) const override {}
  std::unique_ptr<Workload> make(const Context&, std::uint64_t) const override {
    return std::make_unique<ForgottenMessage>();
  }
  bool has_values() const override { return true; }
  std::vector<std::filesystem::path> input_files() const override { return {}; }
};

TEST(Run, AHangNamesTheMissingMessage) {
  const Json config = {{"runtime", {{"name", "threads"}, {"watchdog", "300ms"}}},
                       {"cluster", {{"nodes", 3}}},
                       {"algorithm", "gradient_allreduce"},
                       {"workload", "quadratic"},
                       {"optimizer", "sgd"},
                       {"steps", 2}};
  const Experiment experiment = experiment_fields("").parse(config, "");
  try {
    make_run(experiment, ForgottenMessageFactory(), {[](const StepRecord&) {}, [](const Json&) {}});
    ADD_FAILURE() << "the run ended";
  } catch (const HangError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("rank 1 waits for a control message with tag 7"));
  }
}

}  // namespace
}  // namespace trigram::run_test
