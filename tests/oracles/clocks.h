#pragma once

#include <functional>
#include <vector>

#include "tests/oracles/cost_model.h"

namespace trigram::test {

/// Elements of part i of n elements cut into `of` parts.
std::size_t part_length(std::size_t n, std::size_t i, std::size_t of);

/// The clocks of P ranks through a halving or doubling collective on a vector cut into P parts,
/// with ranks beyond a power of two folded: the first 2 rest ranks form pairs, the even one of
/// which hands its work to the odd one. Both ends of a message, and all messages of a pair's
/// exchange, end together.
class Clocks {
 public:
  Clocks(const CostModel& costs, int P, std::size_t n);

  using Length = std::function<std::size_t(int folded, int active)>;
  /// Every folded rank sends that many elements to its partner, which adds them to its own if
  /// `reduce`.
  void fold_in(const Length& length, bool reduce);
  /// Every partner sends that many elements back.
  void fold_out(const Length& length);

  /// Recursive halving among the active ranks: they exchange what the other half will own, first
  /// with the farthest rank, and add what they receive.
  void halve();
  /// Recursive doubling among the active ranks: they exchange all that they hold, first with the
  /// nearest rank.
  void double_up();
  /// Every rank divides its own part.
  void scale_parts();

  std::size_t part(int rank) const;
  double last() const;

 private:
  void exchange(int a, int b, std::size_t from_a, std::size_t from_b);
  /// Elements for which the aligned group of `width` active ranks around active rank i stands.
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
