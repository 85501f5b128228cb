#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// The members of `rank`'s group in one step of the dynamic grouping of WAGMA-SGD (arXiv
/// 2005.00124, Algorithm 1), in the order of their ranks within the group.
///
/// Ranks that differ only in the bits (step lg S + k) mod lg P, k = 0 .. lg S - 1, form a group. So
/// there are P/S disjoint groups of S ranks, and after ceil(lg P / lg S) steps each bit has had its
/// turn. The k-th of these bits becomes bit k of the rank within the group, so recursive doubling
/// in the group corresponds to lg S rounds of a butterfly over all ranks. P = `size` and S =
/// `group_size` are powers of two, S <= P.
std::vector<int> butterfly_group(int rank, int size, int group_size, long step);

/// Returns `wanted` or, if that is 0, the default for S: sqrt(P) or the next larger power of two.
int butterfly_group_size(int wanted, int size);

/// Throws ConfigError, at `pointer` or at its option "group_size", unless `ranks` can form
/// butterfly groups of that size; 0 means the default.
void check_butterfly_groups(std::int64_t group_size, int ranks, const std::string& pointer);

}  // namespace trigram
