#pragma once

#include <span>
#include <vector>

#include "core/context.h"

// Shares of a scatter-reduce by bandwidth (Diskin et al., DeDLOC, arXiv 2106.10207;
// learning-at-home/hivemind, hivemind/averaging/load_balancing.py).

namespace trigram {

/// How n ranks share the work of averaging a vector.
struct BandwidthShares {
  std::vector<double> shares;  // of each rank, at least 0; their sum is 1
  double s_per_byte = 0;       // seconds per byte of the vector, if only bandwidth limits the ranks
};

/// The shares with which a scatter-reduce over ranks of these bandwidths is fastest. The bandwidths
/// are in bytes per second in each direction; at least one must be positive. A rank with a
/// bandwidth of 0 is a client: it owns nothing, and its own traffic is not counted.
///
/// A rank that owns a share w of a vector of S bytes sends, and receives, S (1 - w) of its own
/// vector and S (n - 1) w of its share. With the seconds per byte xi, its bandwidth b suffices if
/// (1 + (n - 2) w) / b <= xi, so w = clamp((xi b - 1) / (n - 2), 0, 1). xi is the least value of at
/// least 1 / min b at which the shares add up to 1 or more; shares that add up to more are scaled
/// down. With two ranks, any shares take as long, and ranks that are no clients share equally.
BandwidthShares shares_by_bandwidth(std::span<const double> bandwidths_Bps);

/// The bandwidths of the ranks of ctx.comm, as far as the layout knows them: a rank has the NIC of
/// its node, divided by the number of ranks that use it. The ranks are all ranks of the layout, or
/// the leaders of its nodes. For other groups of ranks, and if all NICs are equal, all bandwidths
/// are equal.
std::vector<double> bandwidths_of(Context ctx);

/// x in consecutive parts, one per share, cut at the nearest whole element below the sum of the
/// shares before.
std::vector<Tensor> parts_by_share(const Tensor& x, std::span<const double> shares);

}  // namespace trigram
