#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/device.h"

namespace trigram {

/// An array of bytes in the IDX format of the MNIST database (yann.lecun.com/exdb/mnist): the magic
/// number 0x00000800 + n for n dimensions, the n dimensions as big-endian 32-bit integers, the
/// data.
struct IdxArray {
  std::vector<std::size_t> dimensions;
  std::vector<std::uint8_t> data;
};

/// An error in an IDX file; what() begins with the file's path.
class IdxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a plain or gzipped IDX file of bytes with `dimensions` dimensions. Throws IdxError if the
/// file cannot be read, is damaged, has the wrong magic number, has a dimension of 0, describes
/// more than 2^36 bytes, or is shorter or longer than its header says.
IdxArray read_idx(const std::filesystem::path& file, std::size_t dimensions);

/// Grey-scale images of one size, and their classes.
struct ImageSet {
  std::size_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // one image after the other, row-major
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }
  std::size_t pixels_per_image() const { return height * width; }
};

/// A data set: images to train on and images to evaluate on.
struct ImageData {
  ImageSet train, test;
  std::size_t classes = 0;
  /// The network's input for each pixel value: zero mean and unit variance over the training
  /// images.
  std::array<float, 256> standardised{};

  /// Writes the chosen images of `set` to `images` (f32) and their classes to `labels` (u8). Both
  /// are tensors of `device`: `images` has chosen.size() * set.pixels_per_image() elements, and
  /// `labels` has chosen.size(). Does nothing for phantom tensors (core/tensor.h).
  void gather(Device& device, const ImageSet& set, std::span<const std::uint32_t> chosen,
              const Tensor& images, const Tensor& labels) const;
};

/// The four files of the data set in `folder`: {train,t10k}-{images-idx3,labels-idx1}-ubyte, each
/// with .gz, or without if only the plain file exists.
std::vector<std::filesystem::path> image_data_files(const std::filesystem::path& folder);

/// Reads the data set. Throws ConfigError at `pointer`, naming the file, if a file is missing or
/// damaged or does not match the other files.
ImageData load_image_data(const std::filesystem::path& folder, const std::string& pointer);

}  // namespace trigram
