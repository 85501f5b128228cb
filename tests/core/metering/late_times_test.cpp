#include <gtest/gtest.h>

#include "core/device/null_device.h"
#include "core/metering/meter.h"
#include "tests/support/lone_rank.h"

// Accelerator times that become known only after their stream has been destroyed.

namespace trigram::test::late_times_test {
namespace {

class Silent final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void transfer(std::span<const Transfer>) override {}
};

/// A stream that issues to an accelerator, on which nothing completes until `*known` is true.
class LateStream final : public Stream {
 public:
  LateStream(std::string name, const bool* known) : name_(std::move(name)), known_(known) {}
  std::string_view name() const override { return name_; }
  double now() const override { return 0; }
  std::unique_ptr<EventTime> mark() override {
    return std::make_unique<LateTime>(known_, marks_++);
  }
  void sleep_for(double) override {}
  void charge(const Cost&) override {}
  void compute(double) override {}
  std::unique_ptr<Stream> fork(const std::string& name) override {
    return std::make_unique<LateStream>(name, known_);
  }
  OneWay fork_one_way(const std::string& name) override { return {fork(name), fork(name)}; }
  std::shared_ptr<Work> submit(const Context& after, Task task) override {
    Context context = after;
    context.stream = this;
    context.comm = &silent_;
    task(context);
    return nullptr;
  }
  void wait(Work&) override {}
  void synchronize() override {}
  std::unique_ptr<Mutex> make_mutex() override { return nullptr; }

 private:
  class LateTime final : public EventTime {
   public:
    LateTime(const bool* known, int seconds) : known_(known), seconds_(seconds) {}
    bool known() const override { return *known_; }
    double seconds() const override { return seconds_; }

   private:
    const bool* known_;
    int seconds_;
  };
  std::string name_;
  const bool* known_;
  int marks_ = 0;
  Silent silent_;
};

TEST(LateTimes, AreCountedAfterTheirStreamIsDestroyed) {
  NullDevice device;
  LoneRank lone(device);
  bool known = false;
  LateStream main("main", &known);
  Silent silent;
  lone.ctx.stream = &main;
  lone.ctx.comm = &silent;
  const Layout layout(1, 1);
  lone.ctx.layout = &layout;
  std::vector<Event> events;
  MeterOptions options;
  options.sink = [&](const Event& event) { events.push_back(event); };
  const auto meter = instrument(lone.ctx, std::move(options));
  // On the heap, so that a sanitizer notices if an event refers to the destroyed stream's name.
  const std::string name = "a name that is too long for a string to hold within itself";
  meter->context().stream->fork(name)->submit(meter->context(), [](const Context& c) {
    c.stream->compute(1);
    const Transfer to_itself[] = {{Transfer::send, Tensor::phantom(5, DType::u8, 5), 0}};
    c.comm->transfer(to_itself);
  });
  EXPECT_EQ(meter->counters().communication_s, 0);
  EXPECT_TRUE(events.empty());
  known = true;
  // Successive marks are one second apart.
  EXPECT_EQ(meter->counters().communication_s, 1);
  // One each for the computation, the call of transfer(), and its only message.
  ASSERT_EQ(events.size(), 3u);
  for (const Event& event : events) {
    EXPECT_EQ(event.stream, name);
    EXPECT_EQ(event.end_s - event.begin_s, 1);
  }
  EXPECT_EQ(events.back().bytes, 5u);
}

}  // namespace
}  // namespace trigram::test::late_times_test
