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

/// A submitted task's end.
class SimWork final : public Work {
 public:
  explicit SimWork(SimStream& stream) : stream_(stream) {}
  bool done() const override;
  /// The task has run; it takes until `end`.
  void finish(std::exception_ptr failure, DeferredTime end);

 private:
  friend class SimStream;
  SimStream& stream_;  // that runs the task
  std::vector<SimStream*> waiters_;
  std::exception_ptr failure_;
  bool ran_ = false;
  DeferredTime end_ = DeferredTime::at(0);
  bool observed_ = false;  // somebody has waited and got the failure
};

/// A stream is an actor on the host of its rank. The world owns it; what `fork` returns is a handle
/// whose destructor closes it.
///
/// Charges and computation are owed first and slept at once when the stream *settles*: before
/// anything that others can see. So is what a destructor may not do itself. Where collectives may
/// be flows, a stream goes ahead of the clock further, as those that issue to an accelerator do:
/// tasks and their ends are handed from stream to stream with their instants, and flows are gone on
/// from before it is known when they end.
class alignas(64) SimStream final : public Stream {
 public:
  /// `receiver`: the peers' stream that receives what this one sends: the stream of the same id but
  /// for the `out` of a one-way channel.
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

  /// Lets time pass that is not computation, such as that of software for messages.
  void spend(double seconds) {
    if (seconds > 0) owed_s_ += seconds;
  }
  /// Messages of this rank have come under way, or none is any more.
  void change_pace() { pace_->release(); }

  World& world() const { return world_; }
  SimCommunicator& communicator() { return communicator_; }
  const SimCommunicator& communicator() const { return communicator_; }
  int rank() const { return rank_; }
  StreamId id() const { return id_; }
  StreamId receiver() const { return receiver_; }
  /// An end of a one-way channel; collectives do not pass it.
  bool one_way() const { return one_way_; }
  Context context();

  /// Throws unless this stream's actor is the one that runs.
  void check_current() const;
  /// Sleeps the time owed and does what was deferred.
  void settle() {
    if (owed_s_ > 0 || !deferred_.empty() || after_.milestone || !to_wake_.empty()) pay();
  }
  /// Where the stream is, which may be ahead of the clock.
  DeferredTime instant() const {
    return after_.milestone ? DeferredTime::after(after_, owed_s_)
                            : DeferredTime::at(Simulation::clock() + owed_s_);
  }
  /// What the stream does next, it does from then on.
  void go_on_from(const DeferredTime& instant);
  /// Leaves `action` to the next settling, at this stream's present time. For destructors: does not
  /// switch context.
  void defer(std::function<void()> action) {
    deferred_.push_back({after_, owed_s_, std::move(action)});
  }
  bool owes() const { return owed_s_ > 0 || after_.milestone; }

  /// Settles, then gives way to other streams until `ready()`; whoever makes it so must wake().
  template <class Ready>
  void block(const Wait& wait, Ready ready);
  void wake();
  /// Whether what this stream does now takes no time.
  bool untimed() const { return untimed_; }
  void set_untimed(bool untimed) { untimed_ = untimed; }
  /// What is being waited for, should the simulation hang. Outlives the stream's stack.
  void set_wait(const Wait& wait) { wait_ = wait; }
  const Wait& waiting() const { return wait_; }

  /// No more tasks will come, and receivers get no more messages.
  void close();
  bool closing() const { return closing_; }
  /// The actor of a forked stream: runs tasks until closed.
  void run_tasks();
  /// The end of the actor: settles, and closes the streams that were forked from this one.
  void end();
  /// A failure that no one has waited for; null if there is none.
  std::exception_ptr unobserved_failure() const;

 private:
  struct Deferred {
    Since after;  // when it was deferred, as below
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
  void compute_beside_messages(double seconds);
  void pay();
  void pass_time(double seconds);
  void park();
  /// Gives way until `ready()` without settling, unless something was deferred.
  template <class Ready>
  void block_ahead(const Wait& wait, Ready ready);
  /// Parks this stream, which has settled, until the date is known.
  void await(const DeferredTime& instant);
  void wake_others();

  // What every message touches comes first, to lie in few cache lines.
  World& world_;
  double owed_s_ = 0;  // since the clock, or
  Since after_;        // since this, if it has a milestone
  std::vector<Deferred> deferred_;
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
  simgrid::s4u::SemaphorePtr bell_, pace_;
  std::deque<Job> jobs_;
  const SimStream* submitter_ = nullptr;  // the first
  bool shared_ = false;                   // others submit, too
  std::vector<SimStream*> to_wake_;       // when this stream gives way: they have got jobs
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
  wake_others();
  if (ready()) return;
  const DeferredTime here = instant();
  while (!ready()) {
    wait_ = wait;
    park();
  }
  wait_.kind = Wait::none;
  go_on_from(here);
}

}  // namespace trigram::sim
