#include "experiments/run/timeline.h"

#include <gmock/gmock.h>

namespace trigram::timeline_test {
namespace {

std::vector<Json> events_of(const Timeline& timeline, const std::string& phase) {
  std::vector<Json> found;
  const Json trace = timeline.to_json();
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

Event message(Event::Kind kind, int rank, int peer) {
  Event event{kind, rank, "comm", 1, 2};
  event.peer = peer;
  event.bytes = 8;
  return event;
}

TEST(Timeline, DrawsOnlyTheChosenStepAndRanks) {
  Timeline timeline(1, 2);
  Steps steps(3);
  EXPECT_FALSE(timeline.sink(2, steps));
  EventSink sink = timeline.sink(0, steps);
  double at_s = 0;
  for ([[maybe_unused]] long step : steps) {
    sink({Event::compute, 0, "main", at_s, at_s + 0.5});
    at_s += 1;
  }
  const auto drawn = events_of(timeline, "X");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0]["ts"], 0) << "the step begins at 0";
  EXPECT_EQ(drawn[0]["dur"], 0.5e6);
}

TEST(Timeline, TouchingComputationsAreOneSlice) {
  Timeline timeline(0, 1);
  Steps steps(1);
  EventSink sink = timeline.sink(0, steps);
  sink({Event::compute, 0, "main", 0, 1});
  sink({Event::compute, 0, "main", 1, 3});
  sink({Event::compute, 0, "main", 4, 5});
  EXPECT_EQ(events_of(timeline, "X").size(), 2u);
}

TEST(Timeline, ComputationsOfDifferentKindsAreSeparateAndLabelled) {
  Timeline timeline(0, 1);
  Steps steps(1);
  EventSink sink = timeline.sink(0, steps);
  Event event{Event::compute, 0, "main", 0, 1};
  event.label = {StepLabel::backward, 0};
  sink(event);
  event = {Event::compute, 0, "main", 1, 2};
  event.label = {StepLabel::backward, 1};
  sink(event);
  event = {Event::compute, 0, "main", 2, 3};
  event.operation = Cost::Kind::codec;
  sink(event);
  const auto drawn = events_of(timeline, "X");
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[1]["args"], (Json{{"phase", "backward"}, {"bucket", 1}}));
  EXPECT_EQ(drawn[2]["args"], (Json{{"operation", "codec"}}));
}

TEST(Timeline, TransfersNameTheirPeersEvenIfTheseAreNotDrawn) {
  Timeline timeline(0, 1);
  Steps steps(1);
  EventSink sink = timeline.sink(0, steps);
  for (Event event : {message(Event::transfer, 0, -1), message(Event::send, 0, 7),
                      message(Event::recv, 0, 3), message(Event::recv, 0, 7)}) {
    event.batch = 5;
    sink(event);
  }
  const auto drawn = events_of(timeline, "X");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0]["args"],
            (Json{{"bytes_sent", 8}, {"batch", 5}, {"peers", std::vector<int>{3, 7}}}));
  EXPECT_TRUE(events_of(timeline, "s").empty());
}

TEST(Timeline, KeepsDelaysAndTheTimesOfTheStep) {
  Timeline timeline(0, 2);
  timeline.delay(0, "main", 10, 12);
  timeline.delay(1, "main", 10, 10);
  timeline.end_step(0, "main", 10, 14, false);
  timeline.end_step(1, "main", 10, 13, false);
  Timeline received(0, 2);
  for (const int rank : {0, 1}) received.rank_from_bytes(rank, timeline.rank_to_bytes(rank));
  EXPECT_EQ(received.to_json(), timeline.to_json());
  const auto drawn = events_of(timeline, "X");
  ASSERT_EQ(drawn.size(), 1u) << "a delay of no time is none";
  EXPECT_EQ(drawn[0]["name"], "delay");
  EXPECT_EQ(timeline.to_json()["otherData"]["spans_us"], (Json{{0.0, 4e6}, {0.0, 3e6}}));
}

TEST(Timeline, KeepsWhatAnotherStreamBeganWithinTheStep) {
  Timeline timeline(0, 1);
  Steps steps(2);
  EventSink sink = timeline.sink(0, steps);
  auto step = steps.begin();
  timeline.end_step(0, "main", 0, 10, false);
  ++step;
  sink({Event::transfer, 0, "comm", 8, 30});
  sink({Event::transfer, 0, "other", 10, 12});
  const auto drawn = events_of(timeline, "X");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0]["ts"], 0);
  EXPECT_EQ(drawn[0]["dur"], 22e6);
}

TEST(Timeline, FillsRealTimeWithComputation) {
  Timeline timeline(0, 1);
  Steps steps(1);
  timeline.sink(0, steps)({Event::wait, 0, "main", 2, 3});
  timeline.end_step(0, "main", 0, 10, true);
  const auto drawn = events_of(timeline, "X");
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[0]["name"], "compute");
  EXPECT_EQ(drawn[0]["dur"], 2e6);
  EXPECT_EQ(drawn[1]["name"], "wait");
  EXPECT_EQ(drawn[2]["dur"], 7e6);
}

// Rank 1 is one step behind. The message of the drawn step is the second one at both ends, although
// the first one is not drawn.
TEST(Timeline, BothEndsOfAMessageHaveTheSameId) {
  Timeline timeline(1, 2);
  Steps ahead(2), behind(2);
  EventSink zero = timeline.sink(0, ahead), one = timeline.sink(1, behind);
  auto ahead_step = ahead.begin();
  zero(message(Event::send, 0, 1));
  ++ahead_step;
  zero(message(Event::transfer, 0, -1));
  zero(message(Event::send, 0, 1));
  auto behind_step = behind.begin();
  one(message(Event::recv, 1, 0));
  ++behind_step;
  one(message(Event::transfer, 1, -1));
  one(message(Event::recv, 1, 0));
  const auto starts = events_of(timeline, "s"), ends = events_of(timeline, "f");
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
  EXPECT_NE(starts[0]["pid"], ends[0]["pid"]);
}

}  // namespace
}  // namespace trigram::timeline_test
