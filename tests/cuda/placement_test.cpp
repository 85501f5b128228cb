// The GPU that a rank uses, given the GPUs that its launcher makes visible to it.

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

/// A key-value store for ranks that run as threads.
struct KeyValueStore {
  std::mutex mutex;
  std::map<std::string, std::string> values;
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return values.size();
  }
};

class StoreBootstrap final : public Bootstrap {
 public:
  StoreBootstrap(KeyValueStore& store, int rank, int size)
      : store_(store), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void put(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(store_.mutex);
    store_.values[key] = value;
  }
  std::optional<std::string> get(const std::string& key) override {
    const std::lock_guard lock(store_.mutex);
    const auto found = store_.values.find(key);
    return found == store_.values.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  KeyValueStore& store_;
  int rank_, size_;
};

/// The placements of ranks on this machine. first_gpus[r] is the first GPU that rank r sees.
std::vector<cuda::Placement> placements(const std::vector<int>& first_gpus) {
  KeyValueStore store;
  const auto size = first_gpus.size();
  std::vector<cuda::Placement> result(size);
  std::vector<std::jthread> ranks;
  PatientWaiter waiter;
  for (std::size_t rank = 0; rank < size; ++rank) {
    setenv("TRIGRAM_EMULATED_FIRST_GPU", std::to_string(first_gpus[rank]).c_str(), 1);
    ranks.emplace_back([&, rank] {
      StoreBootstrap bootstrap(store, static_cast<int>(rank), static_cast<int>(size));
      PatientWaiter rank_waiter;
      result[rank] = cuda::place_among_gpu_peers(bootstrap, rank_waiter);
    });
    // The threads share the environment. So the next rank starts only when this rank has read the
    // variable, which it has when it has stored its value.
    waiter.await({}, [&] { return store.count() > rank; });
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

TEST(Placement, RanksThatSeeAllGpusTakeOneEach) {
  EXPECT_THAT(devices({0, 0, 0, 0}, 4), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(devices({0, 0, 0, 0}, 2, /*ranks_per_gpu=*/2), testing::ElementsAre(0, 0, 1, 1));
}

TEST(Placement, RanksThatSeeSeparateGpusTakeTheirFirst) {
  EXPECT_THAT(devices({0, 1, 2, 3}, 1), testing::ElementsAre(0, 0, 0, 0));
  // Each rank sees two GPUs and takes the first.
  EXPECT_THAT(devices({0, 2, 4}, 2), testing::ElementsAre(0, 0, 0));
}

TEST(Placement, RanksThatSeeTheGpusOfTheirSocketTakeOneEach) {
  EXPECT_THAT(devices({0, 2, 0, 2}, 2), testing::ElementsAre(0, 0, 1, 1));
}

TEST(Placement, TooFewGpusAreAnErrorThatExplainsVisibility) {
  try {
    devices({3, 3}, 1);
    FAIL() << "both ranks see the same single GPU";
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
