#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "core/context.h"
#include "runtime/threads/communicator.h"
#include "runtime/threads/control.h"
#include "runtime/threads/endpoint.h"
#include "runtime/threads/world.h"

namespace trigram::threads {

/// A submitted task's end, which streams of the same rank may wait for.
class ThreadsWork final : public Work {
 public:
  explicit ThreadsWork(const std::string& stream) : stream_(stream) {}
  bool done() const override { return done_.load(std::memory_order_acquire); }
  const std::string& stream() const { return stream_; }
  /// What the task threw; null if nothing. Valid once done.
  const std::exception_ptr& error() const { return error_; }

  /// Wakes `waiter` when done.
  void notify(Endpoint& waiter);
  void complete(std::exception_ptr error);

 private:
  const std::string& stream_;
  std::mutex mutex_;
  std::vector<Endpoint*> waiters_;
  std::exception_ptr error_;
  std::atomic<bool> done_ = false;
};

/// A stream is a thread: the rank's own, or one that a fork started to work off a queue of tasks.
class ThreadsStream final : public Stream {
 public:
  ThreadsStream(Group& group, int rank);
  /// Closes the stream and waits for its last task. When an exception is what destroys it, the
  /// world fails first: a task that waits for this rank would never end.
  ~ThreadsStream() override;
  Context context();
  /// Starts the thread that works off submitted tasks.
  void start_worker();

  std::string_view name() const override { return group_.name(); }
  double now() const override { return world().now(); }
  void sleep_for(double seconds) override;
  void charge(const Cost&) override {}
  void compute(double seconds) override;
  std::unique_ptr<Stream> fork(const std::string& name) override;
  std::shared_ptr<Work> submit(const Context& after, Task task) override;
  void wait(Work& work) override;
  void synchronize() override;
  std::unique_ptr<Mutex> make_mutex() override;

 private:
  World& world() const { return self_.world; }
  std::shared_ptr<ThreadsWork> enqueue(Task task);
  void work_off() noexcept;
  void run(Job job);

  Group& group_;
  Endpoint& self_;
  ThreadsCommunicator communicator_;
  ThreadsControl control_;
  const int exceptions_at_birth_ = std::uncaught_exceptions();
  std::size_t forks_ = 0;
  std::thread worker_;
};

}  // namespace trigram::threads
