#pragma once

#include <cstddef>
#include <vector>

namespace trigram::test {

/// The lengths of the 161 parameter tensors of ResNet-50 (He et al., arXiv 1512.03385, Table 1,
/// with biases only in the last layer): a convolution's weights, then scale and shift of its
/// normalisation; 25,557,032 parameters.
inline std::vector<std::size_t> resnet50_tensors() {
  std::vector<std::size_t> lengths;
  const auto convolution = [&](std::size_t in, std::size_t out, std::size_t kernel) {
    lengths.insert(lengths.end(), {in * out * kernel * kernel, out, out});
  };
  convolution(3, 64, 7);
  std::size_t in = 64, width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      convolution(in, width, 1);
      convolution(width, width, 3);
      convolution(width, 4 * width, 1);
      if (block == 0) convolution(in, 4 * width, 1);  // the shortcut
      in = 4 * width;
    }
    width *= 2;
  }
  lengths.insert(lengths.end(), {in * 1000, 1000});
  return lengths;
}

}  // namespace trigram::test
