#include "tests/oracles/clocks.h"

#include <algorithm>

#include "tests/oracles/closed_forms.h"

namespace trigram::test {

std::size_t part_length(std::size_t n, std::size_t i, std::size_t parts) {
  return n * (i + 1) / parts - n * i / parts;
}

Clocks::Clocks(const CostModel& costs, int P, std::size_t n)
    : costs_(costs),
      size_(P),
      active_(1 << floor_log2(P)),
      rest_(P - active_),
      n_(n),
      clock_(static_cast<std::size_t>(P), 0) {}

std::size_t Clocks::part(int rank) const {
  return part_length(n_, static_cast<std::size_t>(rank), static_cast<std::size_t>(size_));
}

double Clocks::last() const { return *std::max_element(clock_.begin(), clock_.end()); }

void Clocks::exchange(int a, int b, std::size_t from_a, std::size_t from_b) {
  const double end =
      std::max(at(a), at(b)) + std::max(costs_.message(from_a), costs_.message(from_b));
  at(a) = at(b) = end;
}

void Clocks::fold_in(const Length& length, bool reduce) {
  for (int pair = 0; pair < rest_; ++pair) {
    const int folded = 2 * pair, active = folded + 1;
    const std::size_t sent = length(folded);
    at(folded) = at(active) = std::max(at(folded), at(active)) + costs_.message(sent);
    if (reduce) at(active) += costs_.accumulate(sent);
  }
}

void Clocks::fold_out(const Length& length) {
  for (int pair = 0; pair < rest_; ++pair) {
    const int folded = 2 * pair, active = folded + 1;
    at(folded) = at(active) = std::max(at(folded), at(active)) + costs_.message(length(folded));
  }
}

int Clocks::rank_of(int active) const { return active < rest_ ? 2 * active + 1 : active + rest_; }

std::size_t Clocks::boundary(int active) const {
  const auto parts = static_cast<std::size_t>(active + std::min(active, rest_));
  return n_ * parts / static_cast<std::size_t>(size_);
}

std::size_t Clocks::group_length(int i, int width) const {
  const int first = i / width * width;
  return boundary(first + width) - boundary(first);
}

void Clocks::halve() {
  for (int width = active_ / 2; width >= 1; width /= 2) {
    for (int i = 0; i < active_; ++i) {
      const int j = i ^ width;
      if (i < j) exchange(rank_of(i), rank_of(j), group_length(j, width), group_length(i, width));
    }
    for (int i = 0; i < active_; ++i) at(rank_of(i)) += costs_.accumulate(group_length(i, width));
  }
}

void Clocks::double_up() {
  for (int width = 1; width < active_; width *= 2)
    for (int i = 0; i < active_; ++i) {
      const int j = i ^ width;
      if (i < j) exchange(rank_of(i), rank_of(j), group_length(i, width), group_length(j, width));
    }
}

void Clocks::scale_parts() {
  for (int rank = 0; rank < size_; ++rank) at(rank) += costs_.scale(part(rank));
}

}  // namespace trigram::test
