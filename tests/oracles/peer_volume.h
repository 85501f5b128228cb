#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/oracles/algorithm_volume.h"

// The volume that every rank sends in methods over peer graphs, derived from the descriptions of
// the graphs.

namespace trigram::test {

/// The pairs (sender, receiver) among P ranks in a step; empty for one rank. `graph` is the name of
/// a graph without random numbers, with its default options.
std::vector<std::pair<int, int>> edges_of(const std::string& graph, int P, long step);

/// In every step each rank sends its model along each of its edges, as one message of 4 bytes per
/// weight and `extra` more weights (0 for dpsgd, 1 for sgp).
Traffic peer_volume(const Layout& layout, const Buckets& buckets, long steps,
                    const std::string& graph, std::uint64_t extra, bool hierarchical);
/// The same, with one such message per bucket.
Traffic peer_volume_in_buckets(const Layout& layout, const Buckets& buckets, long steps,
                               const std::string& graph, std::uint64_t extra, bool hierarchical);
/// The model is averaged `averages` times, in parts with these numbers of elements. Each average
/// has `rounds` rounds. Each round averages along the next axis of a grid with the lengths `sides`,
/// by a ring allreduce along each line of the exchanging ranks.
Traffic moshpit_volume(const Layout& layout, const Buckets& parts, long averages, long rounds,
                       const std::vector<int>& sides, bool hierarchical);
/// The same as peer_volume, with an encoded model.
Traffic coded_peer_volume(const Layout& layout, const Buckets& buckets, long steps,
                          const std::string& graph, bool hierarchical, const CodeBytes& code);

}  // namespace trigram::test
