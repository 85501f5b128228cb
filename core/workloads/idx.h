#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace trigram {

/// An array of bytes in the IDX format of the MNIST database (yann.lecun.com/exdb/mnist): magic
/// number 0x0000080D with D dimensions, the dimensions as big-endian 32-bit integers, the data.
struct IdxArray {
  std::vector<std::size_t> dimensions;
  std::vector<std::uint8_t> data;
};

/// Describes an error in an IDX file; the text starts with its path.
class IdxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a plain or gzipped IDX file of bytes with `rank` dimensions. Throws IdxError if it is
/// missing, is of another kind, or is shorter or longer than its header says.
IdxArray read_idx(const std::filesystem::path& file, std::size_t rank);

}  // namespace trigram
