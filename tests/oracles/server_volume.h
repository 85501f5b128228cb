#pragma once

#include "tests/oracles/algorithm_volume.h"

namespace trigram::test {

/// Every bucket is cut into the fewest parts of at most `partition` bytes. Part i, counted over all
/// buckets, belongs to server i modulo `servers`, which sit on evenly spaced ranks. In every step
/// each worker sends every part to its server, and gets as much back.
Traffic parameter_server_volume(const Layout& layout, const Buckets& buckets, long steps,
                                std::uint64_t servers, std::uint64_t partition);

}  // namespace trigram::test
