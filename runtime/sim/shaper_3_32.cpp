#include "runtime/sim/shaper_3_32.h"

#include <algorithm>

namespace trigram::sim {
namespace {

/// Credit below this fraction of the depth counts as no credit, because of rounding.
constexpr double kRounding = 1e-9;
/// A link can burst again once its credit reaches this fraction of the depth. Without this
/// hysteresis, a link that the network model keeps slightly below its bandwidth would switch back
/// and forth without end.
constexpr double kAgain = 1e-3;

}  // namespace

void Shaper::add(const Link& described, const ChangingLink& link) {
  Bucket& bucket = buckets_.emplace_back(Bucket{.link = link,
                                                .burst_Bps = described.bandwidth_Bps,
                                                .rate_Bps = described.refill_Bps,
                                                .depth_bytes = described.credit_depth_bytes,
                                                .credit_bytes = described.credit_initial_bytes});
  bucket.bursting = bucket.credit_bytes >= kAgain * bucket.depth_bytes;
  if (!bucket.bursting) bucket.link.set_bandwidth(bucket.rate_Bps);
}

std::vector<double> Shaper::credits() const {
  std::vector<double> bytes;
  bytes.reserve(buckets_.size());
  for (const Bucket& bucket : buckets_) bytes.push_back(bucket.credit_bytes);
  return bytes;
}

double Shaper::next_occurring_event(double) {
  double next_s = -1;  // no event
  for (Bucket& bucket : buckets_) {
    bucket.used_Bps = bucket.link.used_Bps();
    if (!bucket.bursting || bucket.falling_Bps() <= 0) continue;
    const double empty_s = bucket.credit_bytes / bucket.falling_Bps();
    if (next_s < 0 || empty_s < next_s) next_s = empty_s;
  }
  return next_s;
}

void Shaper::update_actions_state(double, double delta) {
  for (Bucket& bucket : buckets_) {
    const double credit_bytes = bucket.credit_bytes - bucket.falling_Bps() * delta;
    bucket.credit_bytes = std::clamp(credit_bytes, 0.0, bucket.depth_bytes);
    const bool runs_out =
        bucket.falling_Bps() > 0 && bucket.credit_bytes <= kRounding * bucket.depth_bytes;
    const bool bursts =
        bucket.bursting ? !runs_out : bucket.credit_bytes >= kAgain * bucket.depth_bytes;
    if (bursts == bucket.bursting) continue;
    bucket.bursting = bursts;
    bucket.link.set_bandwidth(bursts ? bucket.burst_Bps : bucket.rate_Bps);
  }
}

}  // namespace trigram::sim
