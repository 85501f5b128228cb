#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trigram {

/// The zones of a cluster, and the price of bytes that are sent from one zone to another.
struct EgressTariff {
  std::vector<int> zones;  // by rank; empty: all ranks are in one zone
  /// US dollars per byte, by the zones of sender and receiver. Empty: any two zones have the price
  /// `usd_per_byte`.
  std::vector<std::vector<double>> between;
  double usd_per_byte = 0;

  bool leaves_zone(int from, int to) const { return !zones.empty() && zone(from) != zone(to); }
  /// What `bytes` cost from one rank to another, in US dollars.
  double usd(int from, int to, std::uint64_t bytes) const {
    if (!leaves_zone(from, to)) return 0;
    return static_cast<double>(bytes) *
           (between.empty() ? usd_per_byte : between[zone(from)][zone(to)]);
  }

 private:
  std::size_t zone(int rank) const {
    return static_cast<std::size_t>(zones[static_cast<std::size_t>(rank)]);
  }
};

}  // namespace trigram
