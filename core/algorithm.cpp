#include "core/algorithm.h"

namespace trigram {

void Steps::record_staleness(long steps) {
  stale_updates_.fetch_add(1, std::memory_order_relaxed);
  stale_sum_.fetch_add(steps, std::memory_order_relaxed);
  long seen = stale_max_.load(std::memory_order_relaxed);
  while (steps > seen && !stale_max_.compare_exchange_weak(seen, steps)) {
  }
}

Steps::Staleness Steps::take_staleness() {
  return {stale_updates_.exchange(0), stale_sum_.exchange(0), stale_max_.exchange(0)};
}

}  // namespace trigram
