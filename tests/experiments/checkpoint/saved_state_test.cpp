#include "experiments/checkpoint/saved_state.h"

#include <gtest/gtest.h>

#include "core/device/host_device.h"
#include "core/random/philox.h"

namespace trigram::saved_state_test {
namespace {

SavedState example() {
  SavedState state;
  state["a tensor"] = {true, DType::f32, 3, 300, std::string("\0\1\2\3abcdefgh", 12)};
  state["a phantom"] = {true, DType::f16, 5, 500, ""};
  state["a number"].bytes = std::string("\7\0\0\0\0\0\0\0", 8);
  return state;
}

TEST(SavedState, SurvivesAFile) {
  const SavedState expected = example(), actual = SavedState::from_file(expected.to_file());
  ASSERT_EQ(actual.entries().size(), 3u);
  for (const auto& [name, entry] : expected.entries()) {
    const SavedState::Entry& read = actual.at(name);
    EXPECT_EQ(read.is_tensor, entry.is_tensor);
    EXPECT_EQ(read.dtype, entry.dtype);
    EXPECT_EQ(read.numel, entry.numel);
    EXPECT_EQ(read.priced_numel, entry.priced_numel);
    EXPECT_EQ(read.bytes, entry.bytes);
  }
  EXPECT_EQ(actual.priced_bytes(), 4 * 300 + 2 * 500 + 8);
  SavedState more = expected;
  more["run/lines"].bytes = "0123456789";
  EXPECT_EQ(more.priced_bytes(), expected.priced_bytes());
  EXPECT_THROW(actual.at("another"), std::runtime_error);
}

TEST(SavedState, EveryBitAndEveryByteOfAFileCounts) {
  const std::string file = example().to_file();
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW(SavedState::from_file(damaged), std::runtime_error) << "bit " << bit;
  }
  for (std::size_t length = 0; length < file.size(); ++length)
    EXPECT_THROW(SavedState::from_file(file.substr(0, length)), std::runtime_error) << length;
  EXPECT_THROW(SavedState::from_file(file + " "), std::runtime_error);
}

TEST(SavedState, KeepsATrainingState) {
  HostDevice device;
  Context ctx;
  ctx.device = &device;
  const Tensor x = device.empty(1000);
  device.fill_normal(x, Philox(1, 0, 0, Purpose::weights));
  const TrainingState before;
  device.copy(before.zeros_like(ctx, "moment", x), x);
  before.child("part").value<long>("count", 3) = 4;
  SavedState saved;
  StateSaver saver(saved, device, "algorithm/");
  before.visit(saver);

  const TrainingState after;
  StateRestorer(saved, device, "algorithm/").put_all(after);
  EXPECT_EQ(device.download(after.zeros_like(ctx, "moment", x)), device.download(x));
  EXPECT_EQ(after.child("part").value<long>("count", 3), 4);
  EXPECT_EQ(after.value<long>("another", 5), 5);
  EXPECT_THROW(after.zeros_like(ctx, "moment", device.empty(7)), InvariantError);
  after.child("part").clear();
  EXPECT_EQ(after.child("part").value<long>("count", 3), 3);
}

TEST(SavedState, AnotherStateIsNotRestored) {
  HostDevice device;
  SavedState saved;
  Tensor x = device.empty(4), longer = device.empty(5);
  device.fill(x, 1);
  StateSaver(saved, device, "").tensor("x", x);
  StateRestorer restorer(saved, device, "");
  EXPECT_THROW(restorer.tensor("x", longer), std::runtime_error);
  EXPECT_THROW(restorer.tensor("y", x), std::runtime_error);
  long number = 0;
  EXPECT_THROW(restorer.value("x", number), std::runtime_error);
}

}  // namespace
}  // namespace trigram::saved_state_test
