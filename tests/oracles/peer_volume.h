#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/oracles/algorithm_volume.h"

// What every rank sends in methods over peer graphs, from the descriptions of the graphs alone.

namespace trigram::test {

/// Who sends to whom among P ranks at a step; empty for one rank. By the name of a graph without
/// random numbers, at its defaults.
std::vector<std::pair<int, int>> edges_of(const std::string& graph, int P, long step);

/// Every step, each rank's model goes along each of its edges as one message of 4 bytes per weight
/// and `extra` more weights (0 for dpsgd, 1 for sgp).
Traffic peer_volume(const Layout& layout, const Buckets& buckets, long steps,
                    const std::string& graph, std::uint64_t extra, bool hierarchical);
/// The same where every bucket is such a message.
Traffic peer_volume_in_buckets(const Layout& layout, const Buckets& buckets, long steps,
                               const std::string& graph, std::uint64_t extra, bool hierarchical);
/// Averages of the vectors of `parts`, each in `rounds` rounds, every one along the next axis of a
/// grid of `sides`: a ring around each line of the ranks that exchange.
Traffic moshpit_volume(const Layout& layout, const Buckets& parts, long averages, long rounds,
                       const std::vector<int>& sides, bool hierarchical);
/// The same with a code of the model.
Traffic coded_peer_volume(const Layout& layout, const Buckets& buckets, long steps,
                          const std::string& graph, bool hierarchical, const CodeBytes& code);

}  // namespace trigram::test
