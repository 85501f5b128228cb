#include "runtime/host/stream.h"

#include "core/check.h"
#include "runtime/host/mutex.h"

namespace trigram::host {

void HostWork::await_issued(Endpoint& waiter) {
  {
    std::lock_guard lock(mutex_);
    if (issued()) return;
    waiters_.push_back(&waiter);
  }
  std::unique_lock lock(waiter.mutex);
  waiter.park(lock, {.kind = Wait::work, .name = stream_}, [this] { return issued(); });
}

void HostWork::complete(std::exception_ptr error, std::shared_ptr<AcceleratorEvent> end) {
  std::vector<Endpoint*> waiters;
  {
    std::lock_guard lock(mutex_);
    error_ = std::move(error);
    end_ = std::move(end);
    issued_.store(true, std::memory_order_release);
    waiters.swap(waiters_);
  }
  for (Endpoint* waiter : waiters) waiter->poke();
}

HostStream::HostStream(Group& group, int rank)
    : group_(group), self_(group.at(rank)), control_(group.control(self_)) {
  if (AcceleratorBackend* const accelerator = world().accelerator()) {
    queue_ = accelerator->stream(group.name(), *control_, world().waiter());
    self_.queue = queue_.get();
  } else {
    communicator_ = group.communicator(self_);
  }
}

HostStream::~HostStream() {
  join();
  std::lock_guard lock(self_.mutex);
  self_.queue = nullptr;
}

void HostStream::join() {
  if (!worker_.joinable()) return;
  if (std::uncaught_exceptions() > exceptions_at_start_) world().fail(nullptr);
  {
    std::lock_guard lock(self_.mutex);
    self_.closing = true;
  }
  self_.wake.notify_one();
  Endpoint& destroyer = *this_endpoint();
  destroyer.set_state(Endpoint::State::blocked, {.kind = Wait::stream_end, .name = name()});
  worker_.join();
  destroyer.set_state(Endpoint::State::running);
}

Context HostStream::context() {
  return {.stream = this,
          .comm = queue_ ? &queue_->communicator() : communicator_.get(),
          .control = control_.get(),
          .device = queue_ ? &queue_->device() : &world().device(self_.rank),
          .layout = &world().layout(),
          .world_rank = self_.rank,
          .world_size = world().layout().ranks()};
}

void HostStream::sleep_for(double seconds) {
  check_on_stream(self_);
  self_.sleep(seconds);
}

void HostStream::compute(double seconds) {
  check_on_stream(self_);
  if (world().sleeps_compute()) self_.spend(seconds);
}

std::unique_ptr<Stream> HostStream::start(Group& group) const {
  auto child = std::make_unique<HostStream>(group, self_.rank);
  child->start_worker();
  return child;
}

std::unique_ptr<Stream> HostStream::fork(const std::string& name) {
  check_on_stream(self_);
  return start(world().fork(group_, forks_++, name, self_.rank));
}

OneWay HostStream::fork_one_way(const std::string& name) {
  check_on_stream(self_);
  TRIGRAM_CHECK(communicator_ && communicator_->buffered(1) > 0,
                "one-way channel {}: this world does not buffer what ranks send", name);
  const auto groups = world().fork_one_way(group_, forks_, name, self_.rank);
  forks_ += 2;
  return {start(groups.out), start(groups.in)};
}

void HostStream::start_worker() {
  self_.set_state(Endpoint::State::running);
  worker_ = std::thread([this] { run_tasks(); });
}

void HostStream::run_tasks() noexcept {
  this_endpoint() = &self_;
  try {
    if (queue_) queue_->enter();
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
    finish();
  } catch (const Aborted&) {
  } catch (...) {
    world().fail(std::current_exception());
  }
  std::deque<Job> dropped;  // destroys the tasks after the mutex is released
  std::lock_guard lock(self_.mutex);
  dropped.swap(self_.jobs);
  self_.state = Endpoint::State::ended;
}

void HostStream::run(Job job) {
  std::exception_ptr error;
  std::shared_ptr<AcceleratorEvent> end;
  try {
    if (job.after) queue_->wait(*job.after);
    // The task is destroyed before its Work completes, because its captures must not outlive a
    // stream that waits for the Work.
    Task task = std::move(job.task);
    task(context());
    task = nullptr;
    if (queue_) end = queue_->record();
  } catch (const Aborted&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  job.work->complete(error, std::move(end));
  if (error) world().fail(error);
}

std::shared_ptr<HostWork> HostStream::enqueue(Task task, std::shared_ptr<AcceleratorEvent> after) {
  TRIGRAM_CHECK(worker_.joinable(), "only forked streams take tasks, stream {} of rank {} does not",
                name(), self_.rank);
  world().check_not_failed();
  auto work = std::make_shared<HostWork>(group_.name());
  bool idle;
  {
    std::lock_guard lock(self_.mutex);
    self_.jobs.push_back({std::move(task), std::move(after), work});
    idle = self_.state == Endpoint::State::idle;
  }
  if (idle) self_.wake.notify_one();
  return work;
}

std::shared_ptr<Work> HostStream::submit(const Context& after, Task task) {
  // Without an accelerator, everything that the submitting stream has issued is complete, because
  // host operations block.
  auto* const queue = static_cast<HostStream*>(after.stream)->queue_.get();
  return enqueue(std::move(task), queue ? queue->record() : nullptr);
}

void HostStream::wait(Work& work) {
  check_on_stream(self_);
  auto* const awaited = dynamic_cast<HostWork*>(&work);
  TRIGRAM_CHECK(awaited != nullptr, "waited for a Work of another runtime");
  awaited->await_issued(self_);
  if (awaited->error()) std::rethrow_exception(awaited->error());
  if (awaited->end()) queue_->wait(*awaited->end());
}

void HostStream::synchronize() {
  Endpoint* const caller = this_endpoint();
  if (caller == &self_) return drain();
  TRIGRAM_CHECK(caller != nullptr, "stream {} is synchronised from outside any stream", name());
  const auto last = enqueue([](Context) {}, nullptr);
  last->await_issued(*caller);
  world().waiter().await({.kind = Wait::work, .name = name()}, [&] { return last->done(); });
}

void HostStream::finish() {
  if (communicator_) group_.flush(*communicator_);
  drain();
}

/// Waits for everything that this stream's thread has issued to the accelerator. Host operations
/// are complete when they return.
void HostStream::drain() {
  if (!queue_) return;
  const auto issued = queue_->record();
  world().waiter().await({.kind = Wait::accelerator}, [&] { return issued->reached(); });
}

std::unique_ptr<Mutex> HostStream::make_mutex() { return std::make_unique<HostMutex>(); }

namespace {

/// The time of an accelerator event, on the world's clock.
class WorldEventTime final : public EventTime {
 public:
  WorldEventTime(std::unique_ptr<EventTime> time, const World& world)
      : time_(std::move(time)), world_(world) {}
  bool known() const override { return time_->known(); }
  double seconds() const override { return world_.since_start(time_->seconds()); }

 private:
  const std::unique_ptr<EventTime> time_;
  const World& world_;
};

}  // namespace

std::unique_ptr<EventTime> HostStream::mark() {
  return queue_ ? std::make_unique<WorldEventTime>(queue_->mark(), world()) : nullptr;
}

}  // namespace trigram::host
