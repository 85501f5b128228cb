// Traffic of others in the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test {
namespace {

using testing::HasSubstr;

constexpr double kNic_Bps = 1e9;  // of joined_by

Cluster loaded(double load, double flow_bytes = 1e6, int seed = 1, int nodes = 4) {
  Cluster cluster = joined_by("flat", nodes);
  cluster.inter.background = {load, flow_bytes, seed};
  return cluster;
}

/// How long one message of so many bytes from every rank to the next takes.
double shift_s(const Cluster& cluster, double bytes) {
  const auto ends = simulate(cluster, [&](const Context& ctx) {
    const int P = ctx.size();
    const Tensor x = phantom_bytes(static_cast<std::size_t>(bytes));
    const Transfer batch[] = {{Transfer::recv, x, (ctx.rank() + P - 1) % P},
                              {Transfer::send, x, (ctx.rank() + 1) % P}};
    ctx.comm->transfer(batch);
    return ctx.stream->now();
  });
  return *std::max_element(ends.begin(), ends.end());
}

TEST(Background, TakesItsLoadInTheMean) {
  // A long message and the load are to pass two NICs. At the least it waits for the load of one of
  // them, at the most for those of both, one after the other.
  const double bytes = 4e9, alone_s = bytes / kNic_Bps;
  double before_s = shift_s(loaded(0), bytes);
  EXPECT_NEAR(before_s, alone_s, 1e-4);
  for (const double load : {0.1, 0.3}) {
    const double time_s = shift_s(loaded(load), bytes);
    EXPECT_GT(time_s, before_s);
    EXPECT_GT(time_s, 0.95 * alone_s / (1 - load)) << load;
    EXPECT_LT(time_s, 1.05 * alone_s / (1 - 2 * load)) << load;
    before_s = time_s;
  }
}

TEST(Background, IsTheSameInEveryRun) {
  const double time_s = shift_s(loaded(0.3), 1e8);
  EXPECT_EQ(shift_s(loaded(0.3), 1e8), time_s);
  EXPECT_NE(shift_s(loaded(0.3, 1e6, 2), 1e8), time_s);
  EXPECT_NE(shift_s(loaded(0.3, 2e6), 1e8), time_s);
}

TEST(Background, DoesNotHideThatARunHangs) {
  const auto waits_for_ever = [](const Context& ctx) {
    const Transfer batch[] = {{Transfer::recv, phantom_bytes(1), 1}};
    if (ctx.rank() == 0) ctx.comm->transfer(batch);
  };
  EXPECT_THAT(failure_of(loaded(0.5), waits_for_ever), HasSubstr("hang: "));
}

TEST(Background, EndsWithTheRun) {
  const auto ends = simulate(loaded(0.5), [](const Context& ctx) {
    ctx.stream->sleep_for(1e-3 * (1 + ctx.rank()));
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends[3], 4e-3, 1e-12);
}

TEST(Background, IsBetweenNodes) {
  const Cluster quiet = joined_by("flat", 1, 4);
  Cluster one_node = quiet;
  one_node.inter.background = {0.5, 1e6, 1};
  EXPECT_EQ(shift_s(one_node, 1e8), shift_s(quiet, 1e8));
}

}  // namespace
}  // namespace trigram::test
