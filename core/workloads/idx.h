#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

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
/// file cannot be read, is damaged, has another magic number or an empty dimension, or is shorter
/// or longer than its header says.
IdxArray read_idx(const std::filesystem::path& file, std::size_t dimensions);

}  // namespace trigram
