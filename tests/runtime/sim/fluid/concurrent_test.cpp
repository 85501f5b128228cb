// Several collectives at the same time, each simulated as coupled flows (fluid fidelity).
#include <gtest/gtest.h>

#include "algorithms/collectives/collectives.h"
#include "tests/support/simulate.h"

namespace trigram::test::concurrent_test {
namespace {

using Fidelity = SimOptions::Fidelity;

/// Starts a ring allreduce of `nbytes` bytes on `stream` at time `start_s`.
std::shared_ptr<Work> ring_at(Context ctx, Stream& stream, double start_s, std::size_t nbytes) {
  return stream.submit(ctx, [=](const Context& c) {
    c.stream->sleep_for(start_s - c.stream->now());
    ring_allreduce(c, phantom_bytes(nbytes), Reduce::sum);
  });
}

/// The time at which two overlapping rings have both ended.
double concurrent_s(Fidelity fidelity, double second_start_s, std::size_t second_bytes) {
  const auto two_rings = [&](const Context& ctx) {
    auto one = ctx.stream->fork("one"), other = ctx.stream->fork("other");
    const auto first = ring_at(ctx, *one, 0.001, 8'000'000);
    const auto second = ring_at(ctx, *other, second_start_s, second_bytes);
    ctx.stream->wait(*first);
    ctx.stream->wait(*second);
    return ctx.stream->now();
  };
  return latest_end_s(simulate_phantoms(round_cluster(8), two_rings, {.fidelity = fidelity}));
}

TEST(FluidConcurrent, RingsShareTheirLinks) {
  // Two equal rings share every link, so their bytes take twice as long; their latencies and their
  // additions overlap and count once.
  const double two_s = concurrent_s(Fidelity::fluid, 0.001, 8'000'000) - 0.001;
  const double bytes_s = 14 * 1e6 / 1e9, latencies_s = 14 * 10e-6, additions_s = 7 * 3e6 / 100e9;
  EXPECT_NEAR(two_s, 2 * bytes_s + latencies_s + additions_s, 1e-9);
  // The later ring has half the bytes. The links stay busy until both rings have ended, so the time
  // is that of the sum of their bytes.
  const double later_s = concurrent_s(Fidelity::fluid, 0.005, 4'000'000) - 0.001;
  EXPECT_NEAR(later_s, 1.5 * bytes_s + latencies_s + additions_s, 1e-9);
}

TEST(FluidConcurrent, AnEmptyRingDoesNotDelayAnotherRing) {
  const double bytes_s = 14 * 1e6 / 1e9, latencies_s = 14 * 10e-6, additions_s = 7 * 3e6 / 100e9;
  const double end_s = concurrent_s(Fidelity::fluid, 0.005, 0) - 0.001;
  EXPECT_NEAR(end_s, bytes_s + latencies_s + additions_s, 1e-9);
}

TEST(FluidConcurrent, AutomaticSimulatesConcurrentRingsAsMessages) {
  for (const auto& [start_s, bytes] : {std::pair(0.001, 8'000'000), std::pair(0.005, 4'000'000)})
    EXPECT_EQ(concurrent_s(Fidelity::automatic, start_s, static_cast<std::size_t>(bytes)),
              concurrent_s(Fidelity::message, start_s, static_cast<std::size_t>(bytes)));
}

}  // namespace
}  // namespace trigram::test::concurrent_test
