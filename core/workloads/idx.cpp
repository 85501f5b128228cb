#include "core/workloads/idx.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

namespace trigram {
namespace {

/// A file read through zlib, which passes plain files through unchanged.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file)
      : path_(file.string()), file_(open(file), gzclose) {
    if (!file_) fail("expected a readable IDX file");
    gzbuffer(file_.get(), 1u << 18);
  }

  [[noreturn]] void fail(const std::string& what) const { throw IdxError(path_ + ": " + what); }

  /// Returns the number of bytes read: fewer than `count` at the end of the file.
  std::size_t read(std::uint8_t* to, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
      const auto piece = static_cast<unsigned>(std::min<std::size_t>(count - done, 1u << 30));
      const int got = gzread(file_.get(), to + done, piece);
      // Reading a truncated compressed file fails, but the bytes before the cut still count.
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  std::uint32_t big_endian() {
    std::uint8_t b[4];
    if (read(b, 4) < 4) fail("truncated: the file ends within its header");
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  }

  /// Checks that the file ends here and is intact.
  void expect_end(std::size_t size) {
    std::uint8_t extra;
    if (read(&extra, 1) == 1) fail(fmt::format("expected {} bytes of data, not more", size));
    int error = Z_OK;
    const char* text = gzerror(file_.get(), &error);
    if (error != Z_OK) fail(fmt::format("damaged or truncated: {}", text));
  }

 private:
  /// Returns null for anything but a regular file, because a pipe might never end.
  static gzFile open(const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored) ? gzopen(file.c_str(), "rb") : nullptr;
  }

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

}  // namespace

IdxArray read_idx(const std::filesystem::path& file, std::size_t dimensions) {
  // An upper limit on the size, so that a damaged header cannot exhaust memory.
  constexpr std::size_t kLargest = std::size_t{1} << 36;
  Reader reader(file);
  const auto expected = static_cast<std::uint32_t>(0x800 + dimensions);
  if (const std::uint32_t magic = reader.big_endian(); magic != expected)
    reader.fail(
        fmt::format("expected the magic number {:#010x} (bytes in {} dimension{}), not {:#010x}",
                    expected, dimensions, dimensions == 1 ? "" : "s", magic));
  IdxArray array;
  std::size_t size = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    array.dimensions.push_back(reader.big_endian());
    if (array.dimensions[i] == 0 || array.dimensions[i] > kLargest / size)
      reader.fail(fmt::format("dimension {} is {}", i, array.dimensions[i]));
    size *= array.dimensions[i];
  }
  array.data.resize(size);
  if (const std::size_t got = reader.read(array.data.data(), size); got < size)
    reader.fail(fmt::format("truncated: expected {} bytes of data, not {}", size, got));
  reader.expect_end(size);
  return array;
}

}  // namespace trigram
