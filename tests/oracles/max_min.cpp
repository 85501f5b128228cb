#include "tests/oracles/max_min.h"

#include <algorithm>
#include <limits>

namespace trigram::test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The rates of the active flows, by progressive filling; 0 for the other flows.
std::vector<double> rates(const std::vector<double>& bandwidth_Bps, const std::vector<Flow>& flows,
                          std::vector<bool> growing) {
  std::vector<double> rate(flows.size(), 0), left = bandwidth_Bps;
  for (;;) {
    std::vector<int> load(left.size(), 0);
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const std::size_t link : flows[f].links) load[link] += growing[f] ? 1 : 0;
    double share = kNever;
    std::size_t full = 0;
    for (std::size_t link = 0; link < left.size(); ++link)
      if (load[link] > 0 && left[link] / load[link] < share) {
        share = left[link] / load[link];
        full = link;
      }
    if (share == kNever) return rate;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const auto& links = flows[f].links;
      if (!growing[f] || std::find(links.begin(), links.end(), full) == links.end()) continue;
      growing[f] = false;
      rate[f] = share;
      for (const std::size_t link : links) left[link] -= share;
    }
  }
}

}  // namespace

std::vector<double> max_min_ends(const std::vector<double>& bandwidth_Bps,
                                 std::vector<Flow> flows) {
  std::vector<double> end_s(flows.size(), kNever);
  for (double now_s = 0;;) {
    std::vector<bool> active(flows.size());
    for (std::size_t f = 0; f < flows.size(); ++f)
      active[f] = flows[f].start_s <= now_s && end_s[f] == kNever;
    const auto rate = rates(bandwidth_Bps, flows, active);
    double next_s = kNever;  // the next start or end of a flow
    std::size_t ending = flows.size();
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (flows[f].start_s > now_s) next_s = std::min(next_s, flows[f].start_s);
    }
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (active[f] && now_s + flows[f].bytes / rate[f] < next_s) {
        next_s = now_s + flows[f].bytes / rate[f];
        ending = f;
      }
    if (next_s == kNever) return end_s;
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (active[f]) flows[f].bytes -= rate[f] * (next_s - now_s);
    if (ending < flows.size()) end_s[ending] = next_s;
    now_s = next_s;
  }
}

}  // namespace trigram::test
