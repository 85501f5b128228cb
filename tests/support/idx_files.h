#pragma once

#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace trigram::test {

/// The bytes of an IDX file, the format of MNIST.
inline std::string idx(std::uint32_t magic, const std::vector<std::uint32_t>& dimensions,
                       const std::string& data) {
  std::string bytes;
  auto append = [&](std::uint32_t x) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(x >> shift & 255);
  };
  append(magic);
  for (std::uint32_t d : dimensions) append(d);
  return bytes + data;
}

/// A folder with a small data set, which a test may damage. The destructor deletes it.
class IdxFolder {
 public:
  static constexpr std::uint32_t kTrain = 40, kTest = 12, kSide = 6, kClasses = 3;

  IdxFolder() {
    path_ =
        std::filesystem::path(::testing::TempDir()) / ("trigram_idx_" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
    write("train-images-idx3-ubyte", idx(0x803, {kTrain, kSide, kSide}, pixels(kTrain)));
    write("train-labels-idx1-ubyte", idx(0x801, {kTrain}, labels(kTrain)));
    write("t10k-images-idx3-ubyte", idx(0x803, {kTest, kSide, kSide}, pixels(kTest)));
    write("t10k-labels-idx1-ubyte", idx(0x801, {kTest}, labels(kTest)));
  }
  ~IdxFolder() { std::filesystem::remove_all(path_); }
  IdxFolder(const IdxFolder&) = delete;
  IdxFolder& operator=(const IdxFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void write_gzipped(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen((path_ / (name + ".gz")).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
  /// All pixels of image i are 7 i, except the first.
  static std::string pixels(std::uint32_t count) {
    std::string data;
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t k = 0; k < kSide * kSide; ++k)
        data += static_cast<char>(k == 0 ? i : 7 * i & 255);
    return data;
  }
  static std::string labels(std::uint32_t count) {
    std::string data;
    for (std::uint32_t i = 0; i < count; ++i) data += static_cast<char>(i % kClasses);
    return data;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace trigram::test
