#pragma once

#include <functional>
#include <vector>

#include "tests/oracles/cost_model.h"

namespace trigram::test {

/// The number of elements of part i, if n elements are cut into `parts` parts.
std::size_t part_length(std::size_t n, std::size_t i, std::size_t parts);

/// The clocks of P ranks during a halving or doubling collective on a vector that is cut into P
/// parts. Ranks beyond a power of two are folded: with P = 2^k + rest, the first 2 rest ranks form
/// pairs, and the even rank of a pair (the folded rank) gives its work to the odd rank. The odd
/// ranks of these pairs and all further ranks are active. The send and the receive of a message end
/// at the same time, and so do both messages of an exchange.
class Clocks {
 public:
  Clocks(const CostModel& costs, int P, std::size_t n);

  using Length = std::function<std::size_t(int folded)>;
  /// Every folded rank sends `length` elements to its partner, which adds them to its own elements
  /// if `reduce`.
  void fold_in(const Length& length, bool reduce);
  /// Every partner sends `length` elements back to the folded rank.
  void fold_out(const Length& length);

  /// Recursive halving among the active ranks. Each rank sends the part that the other half will
  /// own, to the farthest rank first, and adds the part that it receives.
  void halve();
  /// Recursive doubling among the active ranks. Each rank sends all the elements it has, to the
  /// nearest rank first.
  void double_up();
  /// Every rank scales its own part.
  void scale_parts();

  /// The number of elements of the rank's own part.
  std::size_t part(int rank) const;
  /// The end time of the last rank.
  double last() const;

 private:
  void exchange(int a, int b, std::size_t from_a, std::size_t from_b);
  /// The number of elements that belong to the aligned group of `width` active ranks around active
  /// rank i.
  std::size_t group_length(int i, int width) const;
  std::size_t boundary(int active) const;
  int rank_of(int active) const;
  double& at(int rank) { return clock_[static_cast<std::size_t>(rank)]; }

  const CostModel& costs_;
  int size_, active_, rest_;
  std::size_t n_;
  std::vector<double> clock_;
};

}  // namespace trigram::test
