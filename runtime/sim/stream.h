#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <simgrid/s4u/Semaphore.hpp>
#include <string>
#include <vector>

#include "core/wait_text.h"
#include "runtime/sim/communicator.h"
#include "runtime/sim/control.h"
#include "runtime/sim/fluid/deferred_time.h"
#include "runtime/sim/world.h"

namespace trigram::sim {

/// The completion of a submitted task.
class SimWork final : public Work {
 public:
  explicit SimWork(SimStream& stream) : stream_(stream) {}
  bool done() const override;
  /// Called when the task has run. Its simulated duration ends at `end`.
  void finish(std::exception_ptr failure, DeferredTime end);

 private:
  friend class SimStream;
  SimStream& stream_;  // the stream that runs the task
  std::vector<SimStream*> waiters_;
  std::exception_ptr failure_;
  bool ran_ = false;
  DeferredTime end_ = DeferredTime::at(0);
  bool observed_ = false;  // a stream has waited for it and received the failure
};

/// A stream is an actor on the host of its rank. The world owns it; `fork` returns a handle whose
/// destructor closes it.
///
/// Charges and computation are first recorded as *owed time*. The stream sleeps the owed time when
/// it *settles*, which it does before any action that other streams can see. Actions that a
/// destructor may not do itself are deferred in the same way. If collectives may be flows, a stream
/// runs even further ahead of the clock, like a stream that issues to an accelerator: streams
/// exchange tasks and their ends with deferred times, and run past a flow before its end time is
/// known.
class alignas(64) SimStream final : public Stream {
 public:
  /// `receiver` is the stream of the peers that receives the messages of this stream. It has the
  /// same id, except for the `out` of a one-way channel.
  SimStream(World& world, int rank, StreamId id, std::string name, StreamId receiver);

  std::string_view name() const override { return name_; }
  double now() const override;
  std::unique_ptr<EventTime> mark() override;
  void sleep_for(double seconds) override;
  void charge(const Cost& cost) override;
  void compute(double seconds) override;
  std::unique_ptr<Stream> fork(const std::string& name) override;
  OneWay fork_one_way(const std::string& name) override;
  std::shared_ptr<Work> submit(const Context& after, Task task) override;
  void wait(Work& work) override;
  void synchronize() override;
  std::unique_ptr<Mutex> make_mutex() override;

  /// Spends time that is not computation, such as message software overhead.
  void spend(double seconds) {
    if (seconds > 0) owed_s_ += seconds;
  }
  /// Called when the rank begins or ceases to have messages in flight (see Overlap).
  void notify_pace() { pace_->release(); }

  World& world() const { return world_; }
  SimCommunicator& communicator() { return communicator_; }
  const SimCommunicator& communicator() const { return communicator_; }
  int rank() const { return rank_; }
  StreamId id() const { return id_; }
  StreamId receiver() const { return receiver_; }
  /// True for an end of a one-way channel; collectives do not use it.
  bool one_way() const { return one_way_; }
  Context context();

  /// Throws unless this stream's actor is the running actor.
  void check_current() const;
  /// Sleeps the owed time and runs the deferred actions.
  void settle() {
    if (owed_s_ > 0 || !deferred_.empty() || after_.event || !to_wake_.empty()) settle_owed();
  }
  /// The current time of the stream, which may be ahead of the clock.
  DeferredTime current_time() const {
    return after_.event ? DeferredTime::after(after_, owed_s_)
                        : DeferredTime::at(Simulation::clock() + owed_s_);
  }
  /// Continues the stream from `time`.
  void continue_from(const DeferredTime& time);
  /// Defers `action` until the stream settles; it then runs at the stream's current time. For
  /// destructors, because this does not switch context.
  void defer(std::function<void()> action) {
    deferred_.push_back({after_, owed_s_, std::move(action)});
  }
  bool has_owed_time() const { return owed_s_ > 0 || after_.event; }

  /// Settles, then lets other streams run until `ready()` returns true. The code that makes it true
  /// must call wake().
  template <class Ready>
  void block(const Wait& wait, Ready ready);
  void wake();
  /// True if the stream's actions currently take no time.
  bool untimed() const { return untimed_; }
  void set_untimed(bool untimed) { untimed_ = untimed; }
  /// Records the event for which the stream waits, for the report of a hang. The record outlives
  /// the stream's stack.
  void set_wait(const Wait& wait) { wait_ = wait; }
  const Wait& waiting() const { return wait_; }

  /// No more tasks will be submitted, and blocked receives of control messages return empty.
  void close();
  bool closing() const { return closing_; }
  /// The main loop of a forked stream's actor: runs tasks until closed.
  void run_tasks();
  /// Called at the end of the actor: settles, and closes the streams that this stream has forked.
  void end();
  /// A failure of a task for which no stream has waited, or null.
  std::exception_ptr unobserved_failure() const;

 private:
  struct Deferred {
    TimeBase after;  // the stream's after_ and owed_s_ at the time of the deferral
    double owed_s;
    std::function<void()> action;
  };
  struct Job {
    std::shared_ptr<SimWork> work;
    Task task;
    DeferredTime ready;
  };
  StreamId next_fork() const;
  SimStream& add_fork(const std::string& name, StreamId receiver);
  void compute_with_overlap(double seconds);
  void settle_owed();
  void pass_time(double seconds);
  void park();
  /// Lets other streams run until `ready()` returns true. Settles first only if an action was
  /// deferred.
  template <class Ready>
  void block_ahead(const Wait& wait, Ready ready);
  /// Parks this stream, which has settled, until the date of `time` is known.
  void await(const DeferredTime& time);
  void wake_submitted_streams();

  // Members that every message uses come first, so that they lie in few cache lines.
  World& world_;
  /// Owed time in seconds. The stream's time is that much after `after_` or, if that has no event,
  /// after the clock's time.
  double owed_s_ = 0;
  TimeBase after_;
  std::vector<Deferred> deferred_;
  std::vector<SimStream*> to_wake_;  // streams with new jobs; woken when this stream yields
  Wait wait_;
  const int rank_;
  bool parked_ = false;
  bool closing_ = false;
  bool untimed_ = false;
  bool one_way_ = false;
  SimCommunicator communicator_;
  SimControl control_;
  const StreamId id_, receiver_;
  const std::string name_;
  simgrid::s4u::SemaphorePtr wakeup_, pace_;
  std::deque<Job> jobs_;
  const SimStream* submitter_ = nullptr;  // the first stream that submitted a task
  bool shared_ = false;                   // more than one stream submits tasks
  std::vector<std::shared_ptr<SimWork>> failed_;
  std::vector<SimStream*> forked_;
};

template <class Ready>
void SimStream::block(const Wait& wait, Ready ready) {
  settle();
  while (!ready()) {
    wait_ = wait;
    park();
  }
  wait_.kind = Wait::none;
}

template <class Ready>
void SimStream::block_ahead(const Wait& wait, Ready ready) {
  if (!deferred_.empty()) settle();
  wake_submitted_streams();
  if (ready()) return;
  const DeferredTime here = current_time();
  while (!ready()) {
    wait_ = wait;
    park();
  }
  wait_.kind = Wait::none;
  continue_from(here);
}

}  // namespace trigram::sim
