#include "experiments/process/child_queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "experiments/process/shared_counters.h"

namespace trigram::child_queue_test {
namespace {

using namespace std::chrono_literals;

/// Counts how many tasks run at the same time.
class Concurrency {
 public:
  int body(std::chrono::milliseconds duration, int code = 0) {
    const long now = ++counters_[0];
    for (long seen = counters_[1]; now > seen && !counters_[1].compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(duration);
    --counters_[0];
    return code;
  }
  long largest() { return counters_[1]; }

 private:
  SharedCounters counters_{2};
};

class ChildQueueTest : public testing::Test {
 protected:
  ChildTask task(std::function<int()> body, bool exclusive = false) {
    return {exclusive,
            [body, this] {
              return ChildTask::Started{body, log_};
            },
            [this](int status) { statuses_.push_back(status); }};
  }
  const std::string log_ = testing::TempDir() + "child_queue_test.log";
  std::vector<int> statuses_;
};

TEST_F(ChildQueueTest, LimitsTheNumberOfConcurrentTasks) {
  Concurrency concurrency;
  ChildQueue queue(2);
  for (int i = 0; i < 6; ++i) queue.add(task([&] { return concurrency.body(200ms); }));
  EXPECT_TRUE(queue.run([] {}));
  EXPECT_EQ(statuses_, std::vector<int>(6, 0));
  EXPECT_EQ(concurrency.largest(), 2);
}

TEST_F(ChildQueueTest, ExclusiveTasksRunAlone) {
  Concurrency concurrency;
  ChildQueue queue(4);
  for (int i = 0; i < 4; ++i) queue.add(task([&] { return concurrency.body(20ms); }, true));
  EXPECT_TRUE(queue.run([] {}));
  EXPECT_EQ(concurrency.largest(), 1);
}

TEST_F(ChildQueueTest, ReportsCodesSignalsAndExceptions) {
  ChildQueue queue(1);
  queue.add(task([] { return 7; }));
  queue.add(task([] { return kill(getpid(), SIGKILL); }));
  queue.add(task([]() -> int { throw std::runtime_error("no way"); }));
  EXPECT_TRUE(queue.run([] {}));
  ASSERT_EQ(statuses_.size(), 3u);
  EXPECT_EQ(WEXITSTATUS(statuses_[0]), 7);
  EXPECT_EQ(WTERMSIG(statuses_[1]), SIGKILL);
  EXPECT_EQ(WEXITSTATUS(statuses_[2]), 1);
  std::ifstream log(log_);
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  EXPECT_NE(text.find("no way"), std::string::npos) << "the log has the output of the child";
}

TEST_F(ChildQueueTest, AnInterruptKillsAllChildren) {
  ChildQueue queue(2);
  for (int i = 0; i < 3; ++i) queue.add(task([] { return (std::this_thread::sleep_for(1h), 0); }));
  EXPECT_FALSE(queue.run([] { kill(getpid(), SIGINT); }));
  EXPECT_TRUE(statuses_.empty());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

}  // namespace
}  // namespace trigram::child_queue_test
