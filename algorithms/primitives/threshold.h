#pragma once

#include <cstddef>

namespace trigram {

/// The magnitude that the k largest elements of a vector reach, of vectors that change slowly:
/// found exactly once in a while, and corrected in between by how many elements have been found
/// above it (Ok-Topk, Li and Hoefler, arXiv 2201.07598; limits and factors of its code). One of 0,
/// of a vector with fewer than k elements beside zeros, stays until it is found anew.
class Threshold {
 public:
  struct Control {
    double most;    // elements found, over k, above which the threshold rises
    double factor;  // by which it does; it falls by as much below 2/3 k
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
