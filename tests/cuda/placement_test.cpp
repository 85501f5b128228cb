// The GPU that a rank takes, given the GPUs that its launcher makes visible.

#include "cuda/placement.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/config/config_error.h"
#include "tests/cuda/gpu_fixture.h"

namespace trigram::placement_test {
namespace {

/// The values that ranks on threads have published.
struct Board {
  std::mutex mutex;
  std::map<std::string, std::string> values;
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return values.size();
  }
};

class BoardBootstrap final : public Bootstrap {
 public:
  BoardBootstrap(Board& board, int rank, int size) : board_(board), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void put(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(board_.mutex);
    board_.values[key] = value;
  }
  std::optional<std::string> get(const std::string& key) override {
    const std::lock_guard lock(board_.mutex);
    const auto found = board_.values.find(key);
    return found == board_.values.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  Board& board_;
  int rank_, size_;
};

/// The placements of ranks of this machine. Each rank sees one or more GPUs, from its element of
/// `first_gpus` on.
std::vector<cuda::Placement> placements(const std::vector<int>& first_gpus) {
  Board board;
  const auto size = first_gpus.size();
  std::vector<cuda::Placement> result(size);
  std::vector<std::jthread> ranks;
  PatientWaiter waiter;
  for (std::size_t rank = 0; rank < size; ++rank) {
    setenv("TRIGRAM_EMULATED_FIRST_GPU", std::to_string(first_gpus[rank]).c_str(), 1);
    ranks.emplace_back([&, rank] {
      BoardBootstrap bootstrap(board, static_cast<int>(rank), static_cast<int>(size));
      PatientWaiter own;
      result[rank] = cuda::place_on_machine(bootstrap, own);
    });
    // The environment is shared by all threads, but a rank that has published a value has already
    // read its GPU.
    waiter.await({}, [&] { return board.count() > rank; });
  }
  ranks.clear();
  unsetenv("TRIGRAM_EMULATED_FIRST_GPU");
  return result;
}

std::vector<int> devices(const std::vector<int>& first_gpus, int visible, int ranks_per_gpu = 1) {
  std::vector<int> result;
  for (const cuda::Placement& placement : placements(first_gpus))
    result.push_back(cuda::device_of(placement, ranks_per_gpu, visible));
  return result;
}

TEST(Placement, RanksThatSeeAllTakeOneEach) {
  EXPECT_THAT(devices({0, 0, 0, 0}, 4), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(devices({0, 0, 0, 0}, 2, /*ranks_per_gpu=*/2), testing::ElementsAre(0, 0, 1, 1));
}

TEST(Placement, RanksThatSeeOneOfTheirOwnTakeIt) {
  EXPECT_THAT(devices({0, 1, 2, 3}, 1), testing::ElementsAre(0, 0, 0, 0));
  // Each rank sees two GPUs and takes the first.
  EXPECT_THAT(devices({0, 2, 4}, 2), testing::ElementsAre(0, 0, 0));
}

TEST(Placement, RanksThatSeeThoseOfTheirSocketTakeOneEach) {
  EXPECT_THAT(devices({0, 2, 0, 2}, 2), testing::ElementsAre(0, 0, 1, 1));
}

TEST(Placement, TooFewAreAnErrorThatNamesWhatHidesThem) {
  try {
    devices({3, 3}, 1);
    FAIL() << "both see the same GPU alone";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("2 ranks of a machine see the same 1 GPU;"),
                               testing::HasSubstr("CUDA_VISIBLE_DEVICES"),
                               testing::HasSubstr("--gpu-bind=none"),
                               testing::HasSubstr("--ranks-per-gpu")));
  }
}

}  // namespace
}  // namespace trigram::placement_test
