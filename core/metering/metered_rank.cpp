#include "core/metering/metered_rank.h"

namespace trigram {

void MeteredRank::when_known(std::unique_ptr<EventTime> begin, std::unique_ptr<EventTime> end,
                             std::function<void(double, double)> then) {
  std::lock_guard guard(pending_mutex_);
  pending_.push_back({std::move(begin), std::move(end), std::move(then)});
}

void MeteredRank::record_sent(StreamTally& tally, std::uint64_t id, std::size_t members,
                              double end_s, std::span<const ArrivedTraffic::Messages> sent) {
  for (const ArrivedTraffic::Messages& part : sent) tally.count(part.count);
  if (arrived_) arrived_->add(id, members, rank_, end_s, sent);
}

/// Reports the intervals whose times are known. It does not wait for streams: the other intervals
/// stay in the list.
void MeteredRank::report_known() {
  std::lock_guard guard(pending_mutex_);
  std::erase_if(pending_, [](const Pending& pending) {
    if (!pending.end->known()) return false;
    pending.then(pending.begin->seconds(), pending.end->seconds());
    return true;
  });
}

Counters MeteredRank::totals() {
  report_known();
  std::lock_guard guard(mutex_);
  Counters total;
  for (const StreamTally& tally : tallies_) {
    total.communication_s += tally.transfer_s.get();
    total.bytes_intra += tally.bytes_intra.get();
    total.bytes_inter += tally.bytes_inter.get();
    total.messages_intra += tally.messages_intra.get();
    total.messages_inter += tally.messages_inter.get();
    total.bytes_egress += tally.bytes_egress.get();
    total.egress_usd += tally.egress_usd.get();
  }
  total.exposed_s = tallies_.front().wait_s.get();
  return total;
}

void MeteredRank::reset() {
  report_known();
  std::lock_guard guard(mutex_);
  for (StreamTally& tally : tallies_) tally.reset();
}

double MeteredRank::main_blocked_s() {
  std::lock_guard guard(mutex_);
  const StreamTally& main = tallies_.front();
  return main.transfer_s.get() + main.wait_s.get() + main.sleep_s.get();
}

}  // namespace trigram
