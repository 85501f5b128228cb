#include "core/workloads/image_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/device/host_device.h"
#include "tests/support/config_errors.h"
#include "tests/support/idx_files.h"

namespace trigram::image_data_test {
namespace {

using test::idx;
using test::IdxFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const IdxFolder& folder) {
  const std::string text =
      test::config_error_text([&] { load_image_data(folder.path(), "/workload/data"); });
  EXPECT_THAT(text, ::testing::StartsWith("/workload/data: "));
  return text;
}

TEST(ImageData, PlainAndGzippedFilesAreRead) {
  IdxFolder folder;
  const ImageData plain = load_image_data(folder.path(), "");
  EXPECT_EQ(plain.train.size(), IdxFolder::kTrain);
  EXPECT_EQ(plain.test.size(), IdxFolder::kTest);
  EXPECT_EQ(plain.classes, IdxFolder::kClasses);
  EXPECT_EQ(plain.train.height, IdxFolder::kSide);
  const char* name = "train-images-idx3-ubyte";
  folder.write_gzipped(name, idx(0x803, {IdxFolder::kTrain, IdxFolder::kSide, IdxFolder::kSide},
                                 IdxFolder::pixels(IdxFolder::kTrain)));
  std::filesystem::remove(folder.path() / name);
  EXPECT_EQ(load_image_data(folder.path(), "").train.pixels, plain.train.pixels);
}

TEST(ImageData, GatherStandardisesTheChosenImages) {
  IdxFolder folder;
  const ImageData data = load_image_data(folder.path(), "");
  HostDevice host;
  const std::size_t size = IdxFolder::kSide * IdxFolder::kSide;
  const Tensor images = host.empty(IdxFolder::kTrain * size);
  const Tensor labels = host.empty(IdxFolder::kTrain, DType::u8);
  std::vector<std::uint32_t> all(IdxFolder::kTrain);
  std::iota(all.begin(), all.end(), 0u);
  data.gather(host, data.train, all, images, labels);
  double sum = 0, squares = 0;
  for (float x : images.floats()) sum += x, squares += x * x;
  const auto n = static_cast<double>(images.numel());
  EXPECT_NEAR(sum / n, 0, 1e-5);
  EXPECT_NEAR(squares / n, 1, 1e-5);
  EXPECT_EQ(labels.values<std::uint8_t>()[5], 5 % IdxFolder::kClasses);
  EXPECT_EQ(images.floats()[5 * size + 1], data.standardised[35]);
}

TEST(ImageData, MissingFileIsNamed) {
  IdxFolder folder;
  std::filesystem::remove(folder.path() / "t10k-labels-idx1-ubyte");
  EXPECT_THAT(error_of(folder), AllOf(HasSubstr("t10k-labels-idx1-ubyte"), HasSubstr("expected")));
}

TEST(ImageData, TruncatedFileIsNamed) {
  IdxFolder folder;
  folder.write("train-images-idx3-ubyte", idx(0x803, {40, 6, 6}, std::string(40 * 36 - 1, 'x')));
  EXPECT_THAT(error_of(folder), HasSubstr("train-images-idx3-ubyte: truncated: expected 1440 bytes "
                                          "of data, not 1439"));
  folder.write("train-images-idx3-ubyte", idx(0x803, {40}, ""));
  EXPECT_THAT(error_of(folder), HasSubstr("ends within its header"));
  folder.write("train-images-idx3-ubyte", "");
  EXPECT_THAT(error_of(folder), HasSubstr("ends within its header"));
}

TEST(ImageData, TruncatedGzipIsNamed) {
  IdxFolder folder;
  const auto path = folder.path() / "train-labels-idx1-ubyte.gz";
  folder.write_gzipped("train-labels-idx1-ubyte", idx(0x801, {40}, IdxFolder::labels(40)));
  std::filesystem::remove(folder.path() / "train-labels-idx1-ubyte");
  for (const std::uintmax_t cut : {4u, 20u}) {  // cuts in the checksum, and in the data
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - cut);
    EXPECT_THAT(error_of(folder), AllOf(HasSubstr("train-labels"), HasSubstr("truncated")));
  }
}

TEST(ImageData, OtherKindsOfFileAreRefused) {
  IdxFolder folder;
  folder.write("train-labels-idx1-ubyte", idx(0x803, {40, 1, 1}, IdxFolder::labels(40)));
  EXPECT_THAT(error_of(folder), HasSubstr("expected the magic number 0x00000801"));
  folder.write("train-labels-idx1-ubyte", idx(0x801, {40}, IdxFolder::labels(41)));
  EXPECT_THAT(error_of(folder), HasSubstr("expected 40 bytes of data, not more"));
  folder.write("train-labels-idx1-ubyte", idx(0x801, {0}, ""));
  EXPECT_THAT(error_of(folder), HasSubstr("dimension 0 is 0"));
}

TEST(ImageData, InconsistentFilesAreRefused) {
  {
    IdxFolder folder;
    folder.write("train-labels-idx1-ubyte", idx(0x801, {39}, IdxFolder::labels(39)));
    EXPECT_THAT(error_of(folder),
                AllOf(HasSubstr("train-labels"), HasSubstr("40 labels"), HasSubstr("not 39")));
  }
  {
    IdxFolder folder;
    folder.write("t10k-images-idx3-ubyte", idx(0x803, {12, 9, 4}, IdxFolder::pixels(12)));
    EXPECT_THAT(error_of(folder), HasSubstr("expected images of 6x6"));
  }
  {
    IdxFolder folder;
    folder.write("t10k-labels-idx1-ubyte", idx(0x801, {12}, std::string(12, 3)));
    EXPECT_THAT(error_of(folder), HasSubstr("expected classes below 3"));
  }
}

}  // namespace
}  // namespace trigram::image_data_test
