#include "core/metering/arrived_traffic.h"

#include <algorithm>

namespace trigram {

void ArrivedTraffic::add(std::uint64_t id, std::size_t members, int rank, double end_s,
                         std::span<const Messages> sent) {
  Collective& collective = incomplete_[id];
  collective.ends_s.emplace_back(rank, end_s);
  collective.sent.insert(collective.sent.end(), sent.begin(), sent.end());
  if (collective.ends_s.size() < members) return;
  std::ranges::sort(collective.ends_s);
  for (const Messages& part : collective.sent) {
    const auto receiver =
        std::ranges::lower_bound(collective.ends_s, part.to, {}, &std::pair<int, double>::first);
    in_flight_.push_back({part, receiver->second});
  }
  incomplete_.erase(id);
}

std::span<const Counters> ArrivedTraffic::arrived_by(double now_s) {
  std::erase_if(in_flight_, [&](const InFlight& message) {
    if (message.arrival_s > now_s) return false;
    add(message.part);
    return true;
  });
  return arrived_;
}

}  // namespace trigram
