#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "core/workloads/text_data.h"
#include "tests/support/config_errors.h"
#include "tests/support/text_files.h"

namespace trigram::test::text_data_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& text) { return {text.begin(), text.end()}; }

TEST(TextBatches, HoldTheLinesOneAfterTheOther) {
  const std::vector<std::string> lines = {"ab", "unused", "", "xyz", "cd"};
  const TextBatch batch =
      pack(lines, std::vector<std::uint32_t>{2, 0, 3, 4}, RowOrder::by_sequence);
  EXPECT_THAT(batch.lengths, ElementsAre(4, 3, 3, 1));
  EXPECT_EQ(batch.inputs, bytes("\nxyz\nab\ncd\n"));
  EXPECT_EQ(batch.labels, bytes("xyz\nab\ncd\n\n"));
}

TEST(TextBatches, HoldPositionsOneAfterTheOther) {
  const std::vector<std::string> lines = {"ab", "xyz", ""};
  const TextBatch batch = pack(lines, std::vector<std::uint32_t>{0, 1, 2}, RowOrder::by_position);
  EXPECT_THAT(batch.lengths, ElementsAre(4, 3, 1));
  EXPECT_EQ(batch.inputs, bytes("\n\n\nxaybz"));
  EXPECT_EQ(batch.labels, bytes("xa\nybz\n\n"));
}

TEST(TextSplit, FollowsTheCrcOfTheLine) {
  // CRC-32 of "123456789" is 0xCBF43926, the check value of the catalogue of CRCs.
  for (const std::size_t n : {2, 3, 5, 7, 11, 64})
    EXPECT_EQ(is_held_out("123456789", n), 0xCBF43926 % n == 0) << n;
}

TEST(TextSplit, DoesNotDependOnTheOrderOfLinesAndLosesNone) {
  const TextFile file;
  const TextData data = load_text(file.path(), 4, "");
  EXPECT_EQ(data.train.size() + data.held_out.size(), 48u);
  EXPECT_NEAR(static_cast<double>(data.held_out.size()), 12, 9);
  std::string reversed;
  for (const auto* part : {&data.held_out, &data.train})
    for (auto line = part->rbegin(); line != part->rend(); ++line) reversed += *line + '\n';
  std::ofstream(file.path(), std::ios::binary) << reversed;
  TextData again = load_text(file.path(), 4, "");
  std::ranges::reverse(again.train);
  std::ranges::reverse(again.held_out);
  EXPECT_EQ(again.train, data.train);
  EXPECT_EQ(again.held_out, data.held_out);
}

TEST(TextSplit, ReadsAnyBytesAndSkipsEmptyLines) {
  const TextFile file("b\n\n\xff\xfe\r\na\nc\nd\ne");  // the last line has no end
  TextData data = load_text(file.path(), 2, "");
  data.train.insert(data.train.end(), data.held_out.begin(), data.held_out.end());
  std::ranges::sort(data.train);
  EXPECT_EQ(data.train, (std::vector<std::string>{"a", "b", "c", "d", "e", "\xff\xfe\r"}));
}

std::string error_of(const std::filesystem::path& file) {
  return config_error_text([&] { load_text(file, 64, "/workload/data"); });
}

TEST(TextErrors, NameTheFile) {
  EXPECT_THAT(error_of("/no/such/file"),
              AllOf(StartsWith("/workload/data: "), HasSubstr("/no/such/file: expected a readable "
                                                              "file: No such file")));
  EXPECT_THAT(error_of("/usr"), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of(TextFile("one line\n").path()), HasSubstr("1 non-empty line is one"));
  EXPECT_THAT(error_of(TextFile("").path()),
              HasSubstr("expected lines to train on, but none of its "
                        "0 non-empty lines is one"));
}

TEST(Bible, HasItsVerses) {
  if (!std::filesystem::exists(kBible)) GTEST_SKIP() << "needs the packages bible-kjv and -text";
  const TextData data = load_text(kBible, 64, "");
  EXPECT_EQ(data.train.size() + data.held_out.size(), 31102u);
  EXPECT_NEAR(static_cast<double>(data.held_out.size()), 31102.0 / 64, 80);
  EXPECT_THAT(data.train, ::testing::Contains("Jesus wept."));
  std::size_t longest = 0;
  for (const std::string& line : data.train) longest = std::max(longest, line.size());
  EXPECT_EQ(longest, 528u);  // Esther 8:9
}

}  // namespace
}  // namespace trigram::test::text_data_test
