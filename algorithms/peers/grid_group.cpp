#include "algorithms/peers/grid_group.h"

namespace trigram {
namespace {

/// True if side^dimensions >= size.
bool reaches(long side, long dimensions, long size) {
  long cells = 1;
  for (long k = 0; k < dimensions && cells < size; ++k) cells *= side;
  return cells >= size;
}

}  // namespace

std::vector<int> grid_group(int rank, int size, const std::vector<int>& sides, long axis) {
  long stride = 1;
  for (long k = 0; k < axis && stride < size; ++k) stride *= sides[static_cast<std::size_t>(k)];
  if (stride >= size) return {rank};  // no other position along the axis has a rank
  const int side = sides[static_cast<std::size_t>(axis)];
  std::vector<int> members;
  long member = rank - rank / stride % side * stride;
  for (int i = 0; i < side && member < size; ++i, member += stride)
    members.push_back(static_cast<int>(member));
  return members;
}

std::vector<int> grid_sides(int size, long dimensions) {
  std::vector<int> sides;
  for (long left = dimensions; left > 0; --left) {
    int side = 1;  // the shortest length such that no remaining side needs to be longer
    while (size % side != 0 || !reaches(side, left, size)) ++side;
    sides.push_back(side);
    size /= side;
  }
  return sides;
}

}  // namespace trigram
