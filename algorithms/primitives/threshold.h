#pragma once

#include <cstddef>

namespace trigram {

/// An estimate of the magnitude that the k largest elements of a vector reach, for vectors that
/// change slowly. From time to time it is set to the exact value. In between it is corrected by the
/// number of elements found above it (Ok-Topk, Li and Hoefler, arXiv 2201.07598, with the limits
/// and factors of its code). A threshold of 0, from a vector with fewer than k nonzero elements,
/// stays 0 until it is set again.
class Threshold {
 public:
  struct Control {
    double most;  // the threshold rises if more than `most` times k elements are found
    double
        factor;  // factor of each rise; it falls by the same factor if fewer than 2/3 k are found
  };
  explicit Threshold(const Control& control) : control_(control) {}

  float magnitude() const { return magnitude_; }
  void set(float exact) { magnitude_ = exact; }
  void correct(std::size_t found, std::size_t k) {
    const double share = static_cast<double>(found) / static_cast<double>(k);
    const auto factor = static_cast<float>(control_.factor);
    if (share < 2.0 / 3) magnitude_ /= factor;
    else if (share > control_.most) magnitude_ *= factor;
  }

 private:
  Control control_;
  float magnitude_ = 0;
};

}  // namespace trigram
