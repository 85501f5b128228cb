#include "core/metering/metered_rank.h"

namespace trigram {

Counters MeteredRank::totals() const {
  std::lock_guard guard(mutex_);
  Counters total;
  for (const StreamTally& tally : tallies_) {
    total.communication_s += tally.transfer_s.get();
    total.bytes_intra += tally.bytes_intra.get();
    total.bytes_inter += tally.bytes_inter.get();
    total.messages_intra += tally.messages_intra.get();
    total.messages_inter += tally.messages_inter.get();
  }
  total.exposed_s = tallies_.front().wait_s.get();
  return total;
}

double MeteredRank::main_blocked_s() const {
  std::lock_guard guard(mutex_);
  const StreamTally& main = tallies_.front();
  return main.transfer_s.get() + main.wait_s.get() + main.sleep_s.get();
}

}  // namespace trigram
