#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// The members of `rank`'s group in one step of the dynamic grouping of WAGMA-SGD (arXiv
/// 2005.00124, Algorithm 1), in the order of their ranks within the group.
///
/// Ranks that differ only in the bits (step lg S + k) mod lg P, k = 0 .. lg S - 1, are a group, so
/// there are P/S disjoint groups of S, and after ceil(lg P / lg S) steps each bit has had its turn.
/// A member's rank within the group has bit k where its rank has the k-th of those bits: recursive
/// doubling in the group is those rounds of a butterfly over all ranks. P = `size` and S =
/// `group_size` are powers of two, S <= P.
std::vector<int> butterfly_group(int rank, int size, int group_size, long step);

/// `wanted`, or for 0 the default of S: sqrt(P), or the next larger power of two.
int butterfly_group_size(int wanted, int size);

/// Throws ConfigError, at `pointer` or its option "group_size", unless `ranks` have butterfly
/// groups of that size; 0 stands for the default.
void check_butterfly_groups(std::int64_t group_size, int ranks, const std::string& pointer);

}  // namespace trigram
