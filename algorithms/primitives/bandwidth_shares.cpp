#include "algorithms/primitives/bandwidth_shares.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace trigram {
namespace {

double sum_of_shares(std::span<const double> shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

/// The largest shares that the bandwidths allow at `s_per_byte`.
std::vector<double> largest_shares(std::span<const double> bandwidths_Bps, double s_per_byte) {
  const auto n = static_cast<double>(bandwidths_Bps.size());
  std::vector<double> shares;
  for (const double Bps : bandwidths_Bps)
    shares.push_back(std::clamp((s_per_byte * Bps - 1) / (n - 2), 0.0, 1.0));
  return shares;
}

}  // namespace

BandwidthShares shares_by_bandwidth(std::span<const double> bandwidths_Bps) {
  double least_Bps = 0, owners = 0;
  for (const double Bps : bandwidths_Bps)
    if (Bps > 0) {
      least_Bps = owners++ == 0 ? Bps : std::min(least_Bps, Bps);
    }
  TRIGRAM_CHECK(owners > 0, "none of {} ranks has any bandwidth", bandwidths_Bps.size());
  BandwidthShares result;
  if (bandwidths_Bps.size() <= 2) {
    for (const double Bps : bandwidths_Bps) result.shares.push_back(Bps > 0 ? 1 / owners : 0);
    result.s_per_byte = bandwidths_Bps.size() == 1 ? 0 : 1 / least_Bps;
    return result;
  }
  double low = 1 / least_Bps, high = low;
  while (sum_of_shares(largest_shares(bandwidths_Bps, high)) < 1) high *= 2;
  // Bisection, until no number lies between the two.
  for (;;) {
    const double middle = std::midpoint(low, high);
    if (middle <= low || middle >= high) break;
    (sum_of_shares(largest_shares(bandwidths_Bps, middle)) >= 1 ? high : low) = middle;
  }
  result.s_per_byte = high;
  result.shares = largest_shares(bandwidths_Bps, high);
  const double sum = sum_of_shares(result.shares);
  for (double& share : result.shares) share /= sum;
  return result;
}

std::vector<double> bandwidths_of(Context ctx) {
  const Layout& layout = *ctx.layout;
  const Fabric& fabric = layout.fabric();
  const auto nodes = static_cast<int>(layout.nodes().size());
  std::vector<double> Bps(static_cast<std::size_t>(ctx.size()), fabric.nic_Bps);
  const bool all = ctx.size() == layout.ranks(), leaders = ctx.size() == nodes;
  if (fabric.nics_Bps.empty() || !(all || leaders)) return Bps;
  const int ranks_per_node = ctx.size() / nodes, nics = fabric.nics_per_node;
  for (int rank = 0; rank < ctx.size(); ++rank) {
    const int node = rank / ranks_per_node, local = rank % ranks_per_node;
    Bps[static_cast<std::size_t>(rank)] =
        fabric.nics_Bps[static_cast<std::size_t>(node * nics + local % nics)] *
        std::min(nics, ranks_per_node) / ranks_per_node;
  }
  return Bps;
}

std::vector<Tensor> parts_by_share(const Tensor& x, std::span<const double> shares) {
  // The small number makes up for the rounding of sums of shares.
  const auto cut = [](std::size_t length, double share) {
    return std::min(length, static_cast<std::size_t>(share * static_cast<double>(length) + 1e-6));
  };
  std::vector<Tensor> parts;
  std::size_t begin = 0, priced_begin = 0;
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    const bool last = i + 1 == shares.size();
    const std::size_t end = last ? x.numel() : cut(x.numel(), sum);
    const std::size_t priced_end = last ? x.priced_numel() : cut(x.priced_numel(), sum);
    parts.push_back(x.slice(begin, end - begin, priced_end - priced_begin));
    begin = end;
    priced_begin = priced_end;
  }
  return parts;
}

}  // namespace trigram
