#include "runtime/host/stream.h"

#include <chrono>

#include "core/check.h"
#include "runtime/host/mutex.h"

namespace trigram::host {

void HostWork::notify(Endpoint& waiter) {
  std::lock_guard lock(mutex_);
  if (!done()) waiters_.push_back(&waiter);
}

void HostWork::complete(std::exception_ptr error) {
  std::vector<Endpoint*> waiters;
  {
    std::lock_guard lock(mutex_);
    error_ = std::move(error);
    done_.store(true, std::memory_order_release);
    waiters.swap(waiters_);
  }
  for (Endpoint* waiter : waiters) waiter->poke();
}

HostStream::HostStream(Group& group, int rank)
    : group_(group),
      self_(group.at(rank)),
      communicator_(group.communicator(self_)),
      control_(group.control(self_)) {}

HostStream::~HostStream() {
  if (!worker_.joinable()) return;
  if (std::uncaught_exceptions() > exceptions_at_birth_) world().fail(nullptr);
  {
    std::lock_guard lock(self_.mutex);
    self_.closing = true;
  }
  self_.wake.notify_one();
  Endpoint& destroyer = *this_endpoint();
  destroyer.set_state(Endpoint::State::blocked, {.kind = Wait::stream_end, .other = name()});
  worker_.join();
  destroyer.set_state(Endpoint::State::running);
}

Context HostStream::context() {
  return {.stream = this,
          .comm = communicator_.get(),
          .control = control_.get(),
          .device = &world().device(self_.rank),
          .layout = &world().layout(),
          .world_rank = self_.rank,
          .world_size = world().layout().ranks()};
}

void HostStream::sleep_for(double seconds) {
  check_on_stream(self_);
  const std::chrono::duration<double> duration(seconds);
  std::unique_lock lock(self_.mutex);
  self_.wake.wait_for(lock, duration, [&] { return world().failed(); });
  world().check_not_failed();
}

void HostStream::compute(double seconds) {
  if (world().sleeps_compute()) sleep_for(seconds);
}

std::unique_ptr<Stream> HostStream::fork(const std::string& name) {
  check_on_stream(self_);
  auto child =
      std::make_unique<HostStream>(world().fork(group_, forks_++, name, self_.rank), self_.rank);
  child->start_worker();
  return child;
}

void HostStream::start_worker() {
  self_.set_state(Endpoint::State::running);
  worker_ = std::thread([this] { work_off(); });
}

void HostStream::work_off() noexcept {
  this_endpoint() = &self_;
  try {
    for (;;) {
      std::unique_lock lock(self_.mutex);
      self_.park(
          lock, {}, [&] { return !self_.jobs.empty() || self_.closing; }, Endpoint::State::idle);
      if (self_.jobs.empty()) break;
      Job job = std::move(self_.jobs.front());
      self_.jobs.pop_front();
      lock.unlock();
      world().check_not_failed();
      run(std::move(job));
    }
  } catch (const Aborted&) {
  }
  std::deque<Job> dropped;  // destroyed without the mutex
  std::lock_guard lock(self_.mutex);
  dropped.swap(self_.jobs);
  self_.state = Endpoint::State::ended;
}

void HostStream::run(Job job) {
  std::exception_ptr error;
  try {
    // The task dies before its Work is done: what it holds must not outlive what waits for it.
    Task task = std::move(job.task);
    task(context());
  } catch (const Aborted&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  job.work->complete(error);
  if (error) world().fail(error);
}

std::shared_ptr<HostWork> HostStream::enqueue(Task task) {
  TRIGRAM_CHECK(worker_.joinable(), "only forked streams take tasks, stream {} of rank {} does not",
                name(), self_.rank);
  world().check_not_failed();
  auto work = std::make_shared<HostWork>(group_.name());
  bool idle;
  {
    std::lock_guard lock(self_.mutex);
    self_.jobs.push_back({std::move(task), work});
    idle = self_.state == Endpoint::State::idle;
  }
  if (idle) self_.wake.notify_one();
  return work;
}

std::shared_ptr<Work> HostStream::submit(const Context&, Task task) {
  return enqueue(std::move(task));  // what the submitter has issued is complete: it blocks on all
}

void HostStream::wait(Work& work) {
  check_on_stream(self_);
  auto* const awaited = dynamic_cast<HostWork*>(&work);
  TRIGRAM_CHECK(awaited != nullptr, "waited for a Work of another runtime");
  if (!awaited->done()) {
    awaited->notify(self_);
    std::unique_lock lock(self_.mutex);
    self_.park(lock, {.kind = Wait::work, .other = awaited->stream()},
               [&] { return awaited->done(); });
  }
  if (awaited->error()) std::rethrow_exception(awaited->error());
}

void HostStream::synchronize() {
  Endpoint* const caller = this_endpoint();
  if (caller == &self_) return;  // operations of the own thread are complete when they return
  TRIGRAM_CHECK(caller != nullptr, "stream {} is synchronised from outside any stream", name());
  auto last = enqueue([](Context) {});
  last->notify(*caller);
  std::unique_lock lock(caller->mutex);
  caller->park(lock, {.kind = Wait::work, .other = last->stream()}, [&] { return last->done(); });
}

std::unique_ptr<Mutex> HostStream::make_mutex() { return std::make_unique<HostMutex>(); }

}  // namespace trigram::host
