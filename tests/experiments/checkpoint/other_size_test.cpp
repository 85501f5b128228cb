#include "experiments/checkpoint/other_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace trigram::other_size_test {
namespace {

SavedState::Entry tensor(const std::vector<float>& values) {
  return {true, DType::f32, values.size(), values.size(),
          std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size())};
}
SavedState::Entry number(long value) {
  return {.bytes = std::string(reinterpret_cast<const char*>(&value), sizeof value)};
}
std::vector<float> floats(const SavedState::Entry& entry) {
  std::vector<float> values(entry.bytes.size() / 4);
  std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
  return values;
}

class OtherSize : public ::testing::Test {
 protected:
  OtherSize() {
    char name[] = "/tmp/trigram-other-size-XXXXXX";
    path = mkdtemp(name);
    const CheckpointFolder folder(path);
    folder.begin(5);
    for (int rank = 0; rank < 3; ++rank) {
      const auto own = static_cast<float>(rank);
      SavedState state;
      state["rank/weights"] = tensor({own, 10});
      state["rank/buffers"] = tensor({own});
      state["optimizer/0 0"] = tensor({2 * own});
      state["optimizer/0 steps"] = number(5 + rank);
      state["algorithm/common"] = tensor({1, 2});
      state["algorithm/residual"] = tensor({own});
      state["algorithm/part 0/own"] = tensor({own});
      state["algorithm/part 0/count"] = number(4);
      state["algorithm/part 1/count"] = number(4);
      state["batches"] = number(5);
      folder.write(5, rank, state);
    }
    folder.complete(5, 3, Json::object(), 1, 0);
  }
  ~OtherSize() override { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST_F(OtherSize, WorkersAreAveragedAndCommonStateIsKept) {
  const std::vector<int> workers = {1, 2};  // rank 0 only serves
  const ReformedState reformed = reform(CheckpointFolder(path), 5, workers, 4);
  const SavedState& state = reformed.state;
  EXPECT_EQ(floats(state.at("rank/weights")), (std::vector<float>{1.5, 10}));
  EXPECT_EQ(floats(state.at("rank/buffers")), (std::vector<float>{1}));
  EXPECT_EQ(floats(state.at("optimizer/0 0")), (std::vector<float>{3}));
  EXPECT_EQ(state.at("optimizer/0 steps").bytes, number(6).bytes);
  EXPECT_EQ(floats(state.at("algorithm/common")), (std::vector<float>{1, 2}));
  EXPECT_EQ(state.at("algorithm/part 1/count").bytes, number(4).bytes);
  EXPECT_FALSE(state.entries().contains("algorithm/residual"));
  EXPECT_FALSE(state.entries().contains("algorithm/part 0/count"));
  EXPECT_THAT(reformed.left_out, ::testing::ElementsAre("part 0", "residual"));
  EXPECT_EQ(state.at("batches").bytes, number(2).bytes);  // 10 mini-batches, shared by 4
}

}  // namespace
}  // namespace trigram::other_size_test
