#pragma once

#include <cstddef>
#include <vector>

namespace trigram::test {

/// Bytes that flow from `start_s` on through links; links are indices.
struct Flow {
  double start_s = 0;
  double bytes = 0;
  std::vector<std::size_t> links;
};

/// The time at which each flow ends, if links (bytes per second) are shared max-min fairly at all
/// times. The rates of all flows grow equally until a link is full; the flows on this link then
/// keep their rates (progressive filling; Bertsekas and Gallager, Data Networks, section 6.5.2).
std::vector<double> max_min_ends(const std::vector<double>& bandwidth_Bps, std::vector<Flow> flows);

}  // namespace trigram::test
