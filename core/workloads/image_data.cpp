#include "core/workloads/image_data.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/check.h"
#include "core/config/config_error.h"

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

namespace {

ImageSet read_set(const std::filesystem::path& image_file,
                  const std::filesystem::path& label_file) {
  IdxArray images = read_idx(image_file, 3);
  IdxArray labels = read_idx(label_file, 1);
  if (labels.dimensions[0] != images.dimensions[0])
    throw IdxError(fmt::format("{}: expected {} labels, one per image of {}, not {}",
                               label_file.string(), images.dimensions[0],
                               image_file.filename().string(), labels.dimensions[0]));
  return {images.dimensions[1], images.dimensions[2], std::move(images.data),
          std::move(labels.data)};
}

std::array<float, 256> standardise(const std::vector<std::uint8_t>& pixels) {
  std::array<std::uint64_t, 256> count{};
  for (std::uint8_t p : pixels) ++count[p];
  std::uint64_t sum = 0, squares = 0;  // exact, so the same on every machine
  for (std::uint64_t value = 0; value < 256; ++value) {
    sum += value * count[value];
    squares += value * value * count[value];
  }
  const auto n = static_cast<double>(pixels.size());
  const double mean = static_cast<double>(sum) / n;
  const double variance = std::max(static_cast<double>(squares) / n - mean * mean, 1.0);
  std::array<float, 256> table;
  for (std::size_t value = 0; value < 256; ++value)
    table[value] = static_cast<float>((static_cast<double>(value) - mean) / std::sqrt(variance));
  return table;
}

}  // namespace

void ImageData::gather(Device& device, const ImageSet& set, std::span<const std::uint32_t> chosen,
                       const Tensor& images, const Tensor& labels) const {
  const std::size_t size = set.pixels_per_image();
  TRIGRAM_CHECK(images.numel() == chosen.size() * size && labels.numel() == chosen.size(),
                "{} images do not fill {} elements", chosen.size(), images.numel());
  if (images.is_phantom()) return;
  std::vector<float> inputs(images.numel());
  std::vector<std::uint8_t> classes_of_inputs(labels.numel());
  auto to = inputs.begin();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::uint8_t* from = set.pixels.data() + chosen[i] * size;
    for (std::size_t k = 0; k < size; ++k) *to++ = standardised[from[k]];
    classes_of_inputs[i] = set.labels[chosen[i]];
  }
  device.upload(images, inputs);
  device.upload(labels, classes_of_inputs);
}

std::vector<std::filesystem::path> image_data_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    const auto plain = folder / name, gzipped = folder / (std::string(name) + ".gz");
    std::error_code ignored;  // e.g. the path is too long; reading the file reports that
    const bool has_plain = std::filesystem::exists(plain, ignored);
    files.push_back(has_plain && !std::filesystem::exists(gzipped, ignored) ? plain : gzipped);
  }
  return files;
}

ImageData load_image_data(const std::filesystem::path& folder, const std::string& pointer) {
  try {
    const auto files = image_data_files(folder);
    ImageData data{read_set(files[0], files[1]), read_set(files[2], files[3])};
    const ImageSet &train = data.train, &test = data.test;
    if (test.height != train.height || test.width != train.width)
      throw IdxError(fmt::format("{}: expected images of {}x{}, as in {}, not {}x{}",
                                 files[2].string(), train.height, train.width,
                                 files[0].filename().string(), test.height, test.width));
    data.classes = 1u + *std::ranges::max_element(train.labels);
    const unsigned largest = *std::ranges::max_element(test.labels);
    if (largest >= data.classes)
      throw IdxError(fmt::format("{}: expected classes below {}, as in {}, not {}",
                                 files[3].string(), data.classes, files[1].filename().string(),
                                 largest));
    data.standardised = standardise(train.pixels);
    return data;
  } catch (const IdxError& error) {
    throw ConfigError(pointer, error.what());
  }
}

}  // namespace trigram
