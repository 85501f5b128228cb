#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/control.h"
#include "core/device/timed_device.h"
#include "core/metering/metered_communicator.h"
#include "core/metering/metered_rank.h"

namespace trigram {

class MeteredStream;

/// The control plane of the main stream. It counts time in `receive` as waiting. Other streams,
/// such as a server's, keep the raw control plane, because they are idle until a message comes.
class MeteredControl final : public Control {
 public:
  MeteredControl(Control& raw, MeteredStream& stream) : raw_(raw), stream_(stream) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override {
    raw_.post(dest, tag, a, b);
  }
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override { return raw_.poll(tag); }

 private:
  Control& raw_;
  MeteredStream& stream_;
};

/// Wraps a runtime's stream for the tasks that run on it. The tasks share its ownership, because
/// some are destroyed late: tasks of a killed actor, or of a server that outlives its owner.
class alignas(64) MeteredStream final : public Stream,
                                        public std::enable_shared_from_this<MeteredStream> {
 public:
  explicit MeteredStream(std::shared_ptr<MeteredRank> rank, bool is_main = false)
      : rank_(std::move(rank)), tally_(rank_->add_stream()), is_main_(is_main) {}

  /// Wraps the runtime's Context for this stream, so that everything in it is counted and charged.
  Context instrument(const Context& raw);
  /// Makes `task` run on the instrumented Context. Its events carry `label`.
  Task metered(Task task, const StepLabel& label);
  const StepLabel& label() const { return label_; }
  void set_label(const StepLabel& label) { label_ = label; }
  Stream* raw() const { return raw_; }
  /// See Meter.
  void keep_forks() { keeps_forks_ = true; }
  void restart_forks() { next_fork_ = 0; }
  void close_forks() { forks_.clear(); }

  std::string_view name() const override { return raw_->name(); }
  double now() const override { return raw_->now(); }
  std::unique_ptr<EventTime> mark() override { return raw_->mark(); }
  void sleep_for(double seconds) override;
  void charge(const Cost& cost) override;
  void compute(double seconds) override;
  std::unique_ptr<Stream> fork(const std::string& name) override;
  OneWay fork_one_way(const std::string& name) override;
  std::shared_ptr<Work> submit(const Context& after, Task task) override;
  void wait(Work& work) override;
  /// Runs `operation` and counts its time as waiting.
  void wait_in(const std::function<void()>& operation);
  void synchronize() override { raw_->synchronize(); }
  std::unique_ptr<Mutex> make_mutex() override { return raw_->make_mutex(); }

 private:
  template <class F>
  void report(Event::Kind kind, F operation, Tally<double>* tally = nullptr,
              Cost::Kind cost = Cost::Kind::other);
  /// A forked stream, and the metered stream that its tasks see.
  struct Fork {
    std::string name;
    std::shared_ptr<Stream> raw;
    std::shared_ptr<MeteredStream> tasks;
  };
  Fork keep(const std::string& name, std::unique_ptr<Stream> raw);
  /// The kept stream that the next fork returns; null if the fork creates a new stream.
  const Fork* kept(const std::string& name);

  std::shared_ptr<MeteredRank> rank_;
  StreamTally& tally_;
  const bool is_main_;
  StepLabel label_;
  Stream* raw_ = nullptr;
  std::string name_;
  // Created when the stream's first task provides the runtime's Context.
  std::optional<MeteredCommunicator> comm_;
  std::optional<MeteredControl> control_;
  std::optional<TimedDevice> device_;
  bool keeps_forks_ = false;
  std::vector<Fork> forks_;  // the kept streams, in the order of forking
  std::size_t next_fork_ = 0;
};

/// Wraps a forked stream for its owner, which submits tasks to it. Owns the runtime's stream,
/// unless the main stream keeps it.
class ForkedStream final : public Stream {
 public:
  ForkedStream(std::shared_ptr<Stream> raw, std::shared_ptr<MeteredStream> tasks)
      : tasks_(std::move(tasks)), raw_(std::move(raw)) {}

  std::string_view name() const override { return raw_->name(); }
  double now() const override { return raw_->now(); }
  std::unique_ptr<EventTime> mark() override { return raw_->mark(); }
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
  std::shared_ptr<Stream> raw_;
};

}  // namespace trigram
