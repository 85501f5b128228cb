#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "core/context.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/world.h"

namespace trigram::host {

/// A submitted task's end, which streams of the same rank may wait for.
class HostWork final : public Work {
 public:
  explicit HostWork(const std::string& stream) : stream_(stream) {}
  bool done() const override { return issued() && (!end_ || end_->reached()); }
  /// The task has returned; what it issued to an accelerator may be under way.
  bool issued() const { return issued_.load(std::memory_order_acquire); }
  const std::string& stream() const { return stream_; }
  /// What the task threw; null if nothing. Valid once issued, as is `end`.
  const std::exception_ptr& error() const { return error_; }
  /// All that the task issued to its accelerator; null without one.
  const std::shared_ptr<AcceleratorEvent>& end() const { return end_; }

  /// Wakes `waiter` when issued.
  void notify(Endpoint& waiter);
  void complete(std::exception_ptr error, std::shared_ptr<AcceleratorEvent> end);

 private:
  const std::string& stream_;
  std::mutex mutex_;
  std::vector<Endpoint*> waiters_;
  std::exception_ptr error_;
  std::shared_ptr<AcceleratorEvent> end_;
  std::atomic<bool> issued_ = false;
};

/// A stream is a thread: the rank's own, or one that a fork started to work off a queue of tasks.
/// In a world of accelerators it has a queue of one, too, and the order of the queues follows that
/// of the threads: what a task, a Work, a mutex or a control message within the rank orders on the
/// host is ordered on the accelerator.
class HostStream final : public Stream {
 public:
  HostStream(Group& group, int rank);
  /// Closes the stream and waits for its last task. When an exception is what destroys it, the
  /// world fails first: a task that waits for this rank would never end.
  ~HostStream() override;
  Context context();
  /// Starts the thread that works off submitted tasks.
  void start_worker();
  /// Waits for what its messages and its accelerator have left to do. On its own thread, which does
  /// no more.
  void finish();

  std::string_view name() const override { return group_.name(); }
  double now() const override { return world().now(); }
  std::unique_ptr<EventTime> mark() override;
  void sleep_for(double seconds) override;
  void charge(const Cost&) override {}
  void compute(double seconds) override;
  std::unique_ptr<Stream> fork(const std::string& name) override;
  OneWay fork_one_way(const std::string& name) override;
  std::shared_ptr<Work> submit(const Context& after, Task task) override;
  void wait(Work& work) override;
  void synchronize() override;
  std::unique_ptr<Mutex> make_mutex() override;

 private:
  World& world() const { return self_.world; }
  std::unique_ptr<Stream> start(Group& group) const;
  std::shared_ptr<HostWork> enqueue(Task task, std::shared_ptr<AcceleratorEvent> after);
  void drain();
  void join();
  void work_off() noexcept;
  void run(Job job);

  Group& group_;
  Endpoint& self_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<AcceleratorStream> queue_;    // null where tensors live in the host's memory
  std::unique_ptr<Communicator> communicator_;  // null where the queue has one
  const int exceptions_at_birth_ = std::uncaught_exceptions();
  std::size_t forks_ = 0;
  std::thread worker_;
};

}  // namespace trigram::host
