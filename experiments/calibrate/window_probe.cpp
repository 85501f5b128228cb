#include "experiments/calibrate/window_probe.h"

#include <algorithm>
#include <vector>

#include "experiments/calibrate/line_fit.h"

namespace trigram {
namespace {

// A tag that measure.cpp does not use. Algorithms use tags from 0 on.
constexpr int kDecision = -4;

constexpr int kMostConnections = 8;
// The least duration of the longest message, in round trips. The rate is measured from the
// difference to a quarter of that message, 45 round trips, so that one window more or less changes
// it by 1/45.
constexpr double kRoundTrips = 60;
constexpr std::size_t kShortest = std::size_t{16} << 10,
                      kLongest = std::size_t{64} << 20;  // in f32 elements

/// The same sizes with fewer iterations, because a few iterations with long messages are as
/// accurate as many with short messages.
SizeRange few_runs(SizeRange sizes) {
  sizes.iterations = std::max(3, sizes.iterations / 10);
  sizes.warm_up = 1;
  return sizes;
}

/// The seconds in which rank 0 sends `numel` elements to each of the last `receivers` ranks at once
/// and receives an answer of one element from each of them.
double fan_out_seconds(const Context& ctx, const SizeRange& sizes, std::size_t numel,
                       int receivers) {
  const int first = ctx.size() - receivers;
  const bool receives = ctx.rank() >= first;
  if (ctx.rank() > 0 && !receives) return 0;
  const Tensor x = ctx.device->empty(numel), answers = ctx.device->empty(ctx.world_size);
  ctx.device->fill(x, 0);
  ctx.device->fill(answers, 0);
  const auto answer = [&](int rank) { return answers.slice(static_cast<std::size_t>(rank), 1); };
  std::vector<Transfer> out, back;
  if (receives) {
    out.push_back({Transfer::recv, x, 0, TrafficClass::point_to_point});
    back.push_back({Transfer::send, answer(0), 0, TrafficClass::point_to_point});
  } else {
    for (int rank = first; rank < ctx.size(); ++rank) {
      out.push_back({Transfer::send, x, rank, TrafficClass::point_to_point});
      back.push_back({Transfer::recv, answer(rank), rank, TrafficClass::point_to_point});
    }
  }
  return seconds_of(ctx, sizes, [&] {
    ctx.comm->transfer(out);
    ctx.comm->transfer(back);
  });
}

/// Broadcasts rank 0's `value` to all ranks.
std::int64_t broadcast_from_rank_0(const Context& ctx, std::int64_t value) {
  if (ctx.world_rank > 0) return ctx.control->receive(kDecision).value().a;
  for (int rank = 1; rank < ctx.world_size; ++rank) ctx.control->post(rank, kDecision, value, 0);
  return value;
}

/// Bytes per second of `receivers` connections, computed from messages of `numel` / 4 and of
/// `numel` elements.
double rate_to_receivers(const Context& ctx, const SizeRange& sizes, std::size_t numel,
                         int receivers) {
  std::vector<Sample> samples;
  for (const std::size_t n : {numel / 4, numel})
    samples.push_back({static_cast<double>(n * sizeof(float)) * receivers,
                       fan_out_seconds(ctx, sizes, n, receivers)});
  return ctx.rank() == 0 ? 1 / fit_line(samples).seconds_per_unit : 0;
}

}  // namespace

WindowProbe probe_window(const Context& ctx, const SizeRange& sizes) {
  WindowProbe probe;
  probe.round_trip_s = fan_out_seconds(ctx, sizes, 1, 1);
  const bool long_enough = probe.round_trip_s >= WindowProbe::kLeastRoundTrip_s;
  const SizeRange few = few_runs(sizes);
  const int receivers = std::min(ctx.size() - 1, kMostConnections);
  if (broadcast_from_rank_0(ctx, long_enough && receivers > 1) == 0) return probe;
  std::size_t numel = kShortest;
  for (bool longer = true; longer && numel < kLongest;) {
    numel *= 2;
    const double seconds = fan_out_seconds(ctx, few, numel, 1);
    longer = broadcast_from_rank_0(ctx, seconds < kRoundTrips * probe.round_trip_s) != 0;
  }
  probe.connections = receivers;
  probe.one_Bps = rate_to_receivers(ctx, few, numel, 1);
  probe.together_Bps = rate_to_receivers(ctx, few, numel, receivers);
  return probe;
}

}  // namespace trigram
