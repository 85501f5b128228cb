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
class HostStream final : public Stream {
 public:
  HostStream(Group& group, int rank);
  /// Closes the stream and waits for its last task. When an exception is what destroys it, the
  /// world fails first: a task that waits for this rank would never end.
  ~HostStream() override;
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
  std::shared_ptr<HostWork> enqueue(Task task);
  void work_off() noexcept;
  void run(Job job);

  Group& group_;
  Endpoint& self_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Control> control_;
  const int exceptions_at_birth_ = std::uncaught_exceptions();
  std::size_t forks_ = 0;
  std::thread worker_;
};

}  // namespace trigram::host
