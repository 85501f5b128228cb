#pragma once

#include <cstddef>
#include <vector>

namespace trigram::test {

/// Bytes that flow from `start_s` on through links, named by their index.
struct Flow {
  double start_s = 0;
  double bytes = 0;
  std::vector<std::size_t> links;
};

/// When each flow ends if links (bytes per second) are shared max-min fairly at every moment: the
/// rates of all flows grow alike until a link is full, whose flows then keep theirs (progressive
/// filling; Bertsekas and Gallager, Data Networks, section 6.5.2).
std::vector<double> max_min_ends(const std::vector<double>& bandwidth_Bps, std::vector<Flow> flows);

}  // namespace trigram::test
