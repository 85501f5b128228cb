#include <gtest/gtest.h>

#include <ctime>

#include "core/workloads/bucketing.h"
#include "core/workloads/slowed_workload.h"
#include "tests/support/lone_rank.h"

namespace trigram::test::slowed_test {
namespace {

double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Keeps the processor busy.
void burn(double seconds) {
  const double end_s = processor_s() + seconds;
  while (processor_s() < end_s) {
  }
}

/// A workload with two buckets. Each pass does 20 ms of work for each bucket, and so does the
/// caller when a bucket is reported.
class BusyWorkload final : public FlatWorkload {
 public:
  explicit BusyWorkload(Device& device) : FlatWorkload(device, {4, 4}, 8) { bucketize(0); }
  void forward(Context) override { burn(0.04); }
  void backward(Context, const std::function<void(Bucket&)>& on_ready) override {
    for (Bucket& bucket : buckets()) {
      burn(0.02);
      on_ready(bucket);
    }
  }
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }
};

class SleepingStream final : public RecordingStream {
 public:
  void sleep_for(double seconds) override { slept_s.push_back(seconds); }
  std::vector<double> slept_s;
};

/// Rank 1 is twice as slow, and three times as slow in step 1; rank 0 is twice as fast.
struct Machines final : MachineModel {
  double compute_factor(int rank, long step) const override {
    return rank == 0 ? 0.5 : step == 0 ? 2 : 3;
  }
  double delay(int, long) const override { return 0; }
};

class Slowed : public ::testing::Test {
 protected:
  explicit Slowed() {
    workload_ = slowed(std::make_unique<BusyWorkload>(device_), stream_, machines_, steps_);
  }
  Context context(int rank) {
    Context ctx;
    ctx.world_rank = rank;
    ctx.device = &device_;
    return ctx;
  }
  double slept_s(std::size_t sleep) const { return stream_.slept_s.at(sleep); }

  HostDevice device_;
  SleepingStream stream_;
  Machines machines_;
  Steps steps_{2};
  std::unique_ptr<Workload> workload_;
};

TEST_F(Slowed, SleepsInProportionToTheProcessorTime) {
  workload_->forward(context(1));
  ASSERT_EQ(stream_.slept_s.size(), 1u);
  EXPECT_NEAR(slept_s(0) / 0.04, 1, 0.25);
  for ([[maybe_unused]] const long step : steps_)
    if (step == 1) workload_->forward(context(1));
  ASSERT_EQ(stream_.slept_s.size(), 2u);
  EXPECT_NEAR(slept_s(1) / 0.04, 2, 0.5) << "the step decides the factor";
}

/// The caller's own work on a bucket is not part of the workload's computation.
TEST_F(Slowed, SleepsBeforeEachBucketIsReported) {
  std::vector<std::size_t> sleeps_before;
  workload_->backward(context(1), [&](Bucket&) {
    sleeps_before.push_back(stream_.slept_s.size());
    burn(0.1);
  });
  EXPECT_EQ(sleeps_before, (std::vector<std::size_t>{1, 2}));
  EXPECT_NEAR(slept_s(0) / 0.02, 1, 0.25);
  EXPECT_NEAR(slept_s(1) / 0.02, 1, 0.25);
}

TEST_F(Slowed, CannotBeMadeFaster) {
  workload_->forward(context(0));
  workload_->backward(context(0), [](Bucket&) {});
  EXPECT_TRUE(stream_.slept_s.empty());
}

}  // namespace
}  // namespace trigram::test::slowed_test
