#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/device/timed_device.h"
#include "core/metering/metered_communicator.h"
#include "core/metering/metered_rank.h"

namespace trigram {

/// A runtime's stream as its own tasks see it, counted. Tasks share it, so that one that is torn
/// down late (a killed actor, a server that outlives its owner) still finds it.
class alignas(64) MeteredStream final : public Stream,
                                        public std::enable_shared_from_this<MeteredStream> {
 public:
  explicit MeteredStream(std::shared_ptr<MeteredRank> rank)
      : rank_(std::move(rank)), tally_(rank_->add_stream()) {}

  /// The runtime's Context for this stream, with everything in it counted and charged.
  Context instrument(const Context& raw);
  /// `task`, run on the instrumented Context.
  Task metered(Task task);
  Stream* raw() const { return raw_; }

  std::string_view name() const override { return raw_->name(); }
  double now() const override { return raw_->now(); }
  std::unique_ptr<Moment> mark() override { return raw_->mark(); }
  void sleep_for(double seconds) override;
  void charge(const Cost& cost) override;
  void compute(double seconds) override;
  std::unique_ptr<Stream> fork(const std::string& name) override;
  OneWay fork_one_way(const std::string& name) override;
  std::shared_ptr<Work> submit(const Context& after, Task task) override;
  void wait(Work& work) override;
  void synchronize() override { raw_->synchronize(); }
  std::unique_ptr<Mutex> make_mutex() override { return raw_->make_mutex(); }

 private:
  template <class F>
  void report(Event::Kind kind, F operation, Tally<double>* tally = nullptr);

  std::shared_ptr<MeteredRank> rank_;
  StreamTally& tally_;
  Stream* raw_ = nullptr;
  std::string name_;
  // Made when the stream's first task shows the runtime's Context.
  std::optional<MeteredCommunicator> comm_;
  std::optional<TimedDevice> device_;
};

/// The owner's end of a forked stream: submits counted tasks; closes the runtime's stream.
class ForkedStream final : public Stream {
 public:
  ForkedStream(std::unique_ptr<Stream> raw, std::shared_ptr<MeteredStream> tasks)
      : tasks_(std::move(tasks)), raw_(std::move(raw)) {}

  std::string_view name() const override { return raw_->name(); }
  double now() const override { return raw_->now(); }
  std::unique_ptr<Moment> mark() override { return raw_->mark(); }
  void sleep_for(double seconds) override { raw_->sleep_for(seconds); }
  void charge(const Cost& cost) override { raw_->charge(cost); }
  void compute(double seconds) override { raw_->compute(seconds); }
  std::unique_ptr<Stream> fork(const std::string& name) override { return raw_->fork(name); }
  OneWay fork_one_way(const std::string& name) override { return raw_->fork_one_way(name); }
  std::shared_ptr<Work> submit(const Context& after, Task task) override;
  void wait(Work& work) override { raw_->wait(work); }
  void synchronize() override { raw_->synchronize(); }
  std::unique_ptr<Mutex> make_mutex() override { return raw_->make_mutex(); }

 private:
  std::shared_ptr<MeteredStream> tasks_;
  std::unique_ptr<Stream> raw_;
};

}  // namespace trigram
