#include "experiments/results/durable.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace trigram::durable_test {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Readers see the old content or the new one, and no other file stays.
TEST(Durable, AFileThatIsReplacedIsWholeAtAnyTime) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("trigram_durable_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / "record.json";
  const std::string one(20'000, '1'), two(30'000, '2');
  replace_file(path, one);
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) replace_file(path, i % 2 == 0 ? two : one);
    ended = true;
  });
  int wrong = 0;
  while (!ended) {
    const std::string seen = content_of(path);
    if (seen != one && seen != two) ++wrong;
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(content_of(path), one);
  const std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace trigram::durable_test
