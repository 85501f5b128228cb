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

/// A submitted task. Streams of the same rank can wait for its end.
class HostWork final : public Work {
 public:
  explicit HostWork(const std::string& stream) : stream_(stream) {}
  bool done() const override { return issued() && (!end_ || end_->reached()); }
  /// True once the task has returned; the accelerator may still be running what the task issued.
  bool issued() const { return issued_.load(std::memory_order_acquire); }
  /// The exception that the task threw, or null. Valid once the task is issued.
  const std::exception_ptr& error() const { return error_; }
  /// The accelerator event after everything that the task issued; null without an accelerator.
  /// Valid once the task is issued.
  const std::shared_ptr<AcceleratorEvent>& end() const { return end_; }

  /// Blocks the calling stream, whose endpoint is `waiter`, until the work is issued.
  void await_issued(Endpoint& waiter);
  void complete(std::exception_ptr error, std::shared_ptr<AcceleratorEvent> end);

 private:
  const std::string& stream_;
  std::mutex mutex_;
  std::vector<Endpoint*> waiters_;
  std::exception_ptr error_;
  std::shared_ptr<AcceleratorEvent> end_;
  std::atomic<bool> issued_ = false;
};

/// A stream is a thread: the main thread of its rank, or a thread that a fork started and that runs
/// queued tasks. In a world with accelerators a stream also has an accelerator queue, whose
/// operations are ordered like those of the threads: if a task, a Work, a mutex or a control
/// message within the rank orders two operations on the host, they are also ordered on the
/// accelerator.
class HostStream final : public Stream {
 public:
  HostStream(Group& group, int rank);
  /// Closes the stream and waits for its last task. If an exception destroys the stream, the world
  /// fails first: otherwise a task that waits for this rank would never end.
  ~HostStream() override;
  Context context();
  /// Starts the thread that runs submitted tasks.
  void start_worker();
  /// Waits until the stream's messages and accelerator operations are complete. Called last, on the
  /// stream's own thread.
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
  void run_tasks() noexcept;
  void run(Job job);

  Group& group_;
  Endpoint& self_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<AcceleratorStream> queue_;    // null if tensors live in host memory
  std::unique_ptr<Communicator> communicator_;  // null if the communicator belongs to the queue
  const int exceptions_at_start_ = std::uncaught_exceptions();
  std::size_t forks_ = 0;
  std::thread worker_;
};

}  // namespace trigram::host
