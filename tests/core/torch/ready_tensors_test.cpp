#include "core/torch/ready_tensors.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace trigram::ready_tensors_test {
namespace {

TEST(ReadyTensors, AreTakenInOrderWhateverTheOrderOfCompletion) {
  ReadyTensors ready(3);
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{2, 0, 1}, {0, 1, 2}, {1, 2, 0}}) {
    ready.begin();
    std::atomic<bool> complete[3] = {};
    std::size_t taken = 0;
    std::thread backward([&] {
      for (const std::size_t i : order) {
        complete[i] = true;
        ready.complete(i);
      }
      ready.finish();
    });
    ready.take([&] {
      EXPECT_TRUE(complete[taken]);
      ++taken;
    });
    backward.join();
    EXPECT_EQ(taken, 3u);
  }
}

TEST(ReadyTensors, ATensorIsCompleteWhenAllItsUsersAre) {
  ReadyTensors ready(2, {2, 1});
  ready.begin();
  std::atomic<int> taken = 0;
  std::atomic<bool> may_complete = false;
  std::thread backward([&] {
    ready.complete(0);
    ready.complete(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(taken, 0);
    may_complete = true;
    ready.complete(0);
    while (taken < 2) std::this_thread::yield();  // before the pass has finished
    ready.finish();
  });
  ready.take([&] {
    EXPECT_TRUE(may_complete);
    ++taken;
  });
  backward.join();
}

TEST(ReadyTensors, TheEndOfThePassCompletesUnusedTensors) {
  ReadyTensors ready(3);
  ready.begin();
  ready.complete(1);
  ready.finish();
  int taken = 0;
  ready.take([&] { ++taken; });
  EXPECT_EQ(taken, 3);
}

TEST(ReadyTensors, TheExceptionOfThePassIsRethrown) {
  ReadyTensors ready(2);
  ready.begin();
  ready.complete(0);
  ready.finish(std::make_exception_ptr(std::runtime_error("no memory")));
  EXPECT_THROW(ready.take([] {}), std::runtime_error);
  ready.begin();
  ready.finish();
  EXPECT_NO_THROW(ready.take([] {}));
}

}  // namespace
}  // namespace trigram::ready_tensors_test
