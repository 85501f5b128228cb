#include <gtest/gtest.h>

#include "core/metering/meter.h"
#include "core/metering/metered_communicator.h"
#include "tests/support/lone_rank.h"

// The meter counts native collectives although their messages are hidden from it.

namespace trigram::test::native_test {
namespace {

class Library final : public Communicator {
 public:
  Library(int rank, int size, bool supports) : rank_(rank), size_(size), supports_(supports) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void transfer(std::span<const Transfer>) override {}
  bool native(const Collective&) override { return supports_; }

 private:
  int rank_, size_;
  bool supports_;
};

/// The counters of rank 1 of 2 x 2 after a collective on 10 floats; events go to `sink`.
Counters count(const Collective& collective, bool supported, EventSink sink = nullptr) {
  NullDevice device;
  LoneRank lone(device, 1, 4);
  Library library(1, 4, supported);
  const Layout layout(2, 2);
  lone.ctx.comm = &library;
  lone.ctx.layout = &layout;
  MeterOptions options;
  options.sink = std::move(sink);
  const auto meter = instrument(lone.ctx, std::move(options));
  EXPECT_EQ(meter->context().comm->native(collective), supported);
  return meter->counters();
}

Tensor ten() { return Tensor::phantom(10, DType::f32, 10); }

TEST(NativeCollectives, AreCountedAsRings) {
  // Parts of 2, 3, 2 and 3 floats; rank 1's neighbour is on the other node.
  const Counters reduce_scatter = count({Collective::reduce_scatter, ten()}, true);
  EXPECT_EQ(reduce_scatter.bytes_inter, 4u * (2 + 3 + 2));
  EXPECT_EQ(reduce_scatter.messages_inter, 3u);
  EXPECT_EQ(reduce_scatter.bytes_intra, 0u);
  EXPECT_EQ(count({Collective::allgather, ten()}, true).bytes_inter, 4u * (3 + 2 + 3));
  const Counters allreduce = count({Collective::allreduce, ten()}, true);
  EXPECT_EQ(allreduce.bytes_inter, 4u * (7 + 8));
  EXPECT_EQ(allreduce.messages_inter, 6u);
}

TEST(NativeCollectives, BroadcastsAreForwardedExceptByTheLastRank) {
  EXPECT_EQ(count({Collective::broadcast, ten(), Reduce::sum, 0}, true).bytes_inter, 40u);
  EXPECT_EQ(count({Collective::broadcast, ten(), Reduce::sum, 2}, true).messages_inter, 0u);
}

TEST(NativeCollectives, AllToAllSendsEachRankItsPart) {
  const Counters c = count({Collective::all_to_all, ten(), Reduce::sum, 0, ten()}, true);
  EXPECT_EQ(c.bytes_intra, 4u * 2);  // to rank 0
  EXPECT_EQ(c.bytes_inter, 4u * (2 + 3));
  EXPECT_EQ(c.messages_intra + c.messages_inter, 3u);
}

TEST(NativeCollectives, AreOneEventEach) {
  std::vector<Event> events;
  count({Collective::allreduce, ten()}, true, [&](const Event& e) { events.push_back(e); });
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Event::transfer);
  EXPECT_EQ(events[0].bytes, 60u);
}

TEST(NativeCollectives, CountForNothingIfTheWorldHasNone) {
  const Counters c = count({Collective::allreduce, ten()}, false);
  EXPECT_EQ(c.messages_intra + c.messages_inter, 0u);
}

}  // namespace
}  // namespace trigram::test::native_test
