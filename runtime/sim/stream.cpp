#include "runtime/sim/stream.h"

#include <utility>

#include "core/check.h"
#include "runtime/sim/caught.h"
#include "runtime/sim/mutex.h"

namespace trigram::sim {
namespace {

/// The handle that the owner of a forked stream holds.
class ForkedStream final : public Stream {
 public:
  explicit ForkedStream(SimStream& stream) : stream_(stream) {}
  ~ForkedStream() override {
    SimStream* current = stream_.world().current();
    if (current) current->defer([&stream = stream_] { stream.close(); });
  }
  ForkedStream(const ForkedStream&) = delete;
  ForkedStream& operator=(const ForkedStream&) = delete;

  std::string_view name() const override { return stream_.name(); }
  double now() const override { return stream_.now(); }
  std::unique_ptr<EventTime> mark() override { return stream_.mark(); }
  void sleep_for(double seconds) override { stream_.sleep_for(seconds); }
  void charge(const Cost& cost) override { stream_.charge(cost); }
  void compute(double seconds) override { stream_.compute(seconds); }
  std::unique_ptr<Stream> fork(const std::string& name) override { return stream_.fork(name); }
  OneWay fork_one_way(const std::string& name) override { return stream_.fork_one_way(name); }
  std::shared_ptr<Work> submit(const Context& after, Task task) override {
    return stream_.submit(after, std::move(task));
  }
  void wait(Work& work) override { stream_.wait(work); }
  void synchronize() override { stream_.synchronize(); }
  std::unique_ptr<Mutex> make_mutex() override { return stream_.make_mutex(); }

 private:
  SimStream& stream_;
};

}  // namespace

bool SimWork::done() const {
  // The answer is for the time of the asking stream, which may be ahead of the clock.
  if (SimStream* asking = stream_.world().current()) asking->settle();
  constexpr double kRounding = 1 + 1e-12;
  return ran_ && end_.known() && end_.date_s() <= Simulation::clock() * kRounding;
}

void SimWork::finish(std::exception_ptr failure, DeferredTime end) {
  failure_ = std::move(failure);
  end_ = std::move(end);
  ran_ = true;
  for (SimStream* waiter : waiters_) waiter->wake();
}

SimStream::SimStream(World& world, int rank, StreamId id, std::string name, StreamId receiver)
    : world_(world),
      rank_(rank),
      communicator_(*this),
      control_(*this, world.inbox(id, rank)),
      id_(id),
      receiver_(receiver),
      name_(std::move(name)),
      wakeup_(simgrid::s4u::Semaphore::create(0)) {
  if (world.overlap()) pace_ = simgrid::s4u::Semaphore::create(0);
  world.inbox(id, rank).set_owner(this);
}

Context SimStream::context() {
  return {.stream = this,
          .comm = &communicator_,
          .control = &control_,
          .device = &world_.device(),
          .layout = &world_.layout(),
          .world_rank = rank_,
          .world_size = world_.layout().ranks()};
}

void SimStream::check_current() const {
  check_owner(world_.current() == this, rank_, name_);
}

void SimStream::wake_submitted_streams() {
  for (SimStream* stream : std::exchange(to_wake_, {})) stream->wake();
}

void SimStream::park() {
  parked_ = true;
  wakeup_->acquire();
  world_.halt_if_ended();
}

void SimStream::wake() {
  if (!parked_) return;
  parked_ = false;
  wakeup_->release();
  // Other actors have run meanwhile, unless a timer runs this function.
  if (world_.current()) world_.halt_if_ended();
}

StreamId SimStream::next_fork() const {
  const StreamId n = forked_.size() + 1;
  TRIGRAM_CHECK(n <= kMaxForks, "stream {} of rank {} forks more than {} streams", name_, rank_,
                kMaxForks);
  return id_ * (kMaxForks + 1) + n;
}

SimStream& SimStream::add_fork(const std::string& name, StreamId receiver) {
  SimStream& child = world_.add_stream(rank_, next_fork(), name, &SimStream::run_tasks, receiver);
  world_.halt_if_ended();
  forked_.push_back(&child);
  return child;
}

std::unique_ptr<Stream> SimStream::fork(const std::string& name) {
  check_current();
  settle();
  return std::make_unique<ForkedStream>(add_fork(name, next_fork()));
}

OneWay SimStream::fork_one_way(const std::string& name) {
  check_current();
  settle();
  TRIGRAM_CHECK(communicator_.buffered(1) > 0,
                "one-way channel {}: this world does not buffer what ranks send", name);
  SimStream& in = add_fork(name + " in", next_fork());
  SimStream& out = add_fork(name + " out", in.id());
  in.one_way_ = out.one_way_ = true;
  return {std::make_unique<ForkedStream>(out), std::make_unique<ForkedStream>(in)};
}

std::shared_ptr<Work> SimStream::submit(const Context&, Task task) {
  SimStream* submitting = world_.current();
  check_owner(submitting && submitting->rank_ == rank_, rank_, name_);
  TRIGRAM_CHECK(id_ != kMainStream, "rank {} submits a task to its main stream", rank_);
  // Tasks of several streams are queued in the order of time.
  if (!submitter_) submitter_ = submitting;
  shared_ |= submitting != submitter_ && submitting != this;
  if (!world_.ahead() || shared_) submitting->settle();
  TRIGRAM_CHECK(!closing_, "rank {} submits a task to stream {}, which is closed", rank_, name_);
  auto work = std::make_shared<SimWork>(*this);
  jobs_.push_back({work, std::move(task), submitting->current_time()});
  if (!world_.ahead()) wake();
  else if (parked_ && jobs_.size() == 1) submitting->to_wake_.push_back(this);
  return work;
}

void SimStream::wait(Work& work) {
  check_current();
  auto& awaited = static_cast<SimWork&>(work);
  if (!world_.ahead()) settle();
  if (!awaited.ran_) {
    awaited.waiters_.push_back(this);
    block_ahead({.kind = Wait::work, .name = awaited.stream_.name_}, [&] { return awaited.ran_; });
  }
  if (world_.ahead()) continue_from(DeferredTime::later(current_time(), awaited.end_));
  awaited.observed_ = true;
  if (awaited.failure_) std::rethrow_exception(awaited.failure_);
}

void SimStream::synchronize() {
  SimStream* current = world_.current();
  current->settle();
  if (current != this) current->wait(*submit(current->context(), [](const Context&) {}));
}

std::unique_ptr<Mutex> SimStream::make_mutex() { return std::make_unique<SimMutex>(world_); }

void SimStream::close() {
  closing_ = true;
  wake();
}

void SimStream::run_tasks() {
  while (true) {
    block_ahead({}, [this] { return !jobs_.empty() || closing_; });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    if (world_.ahead()) continue_from(DeferredTime::later(current_time(), job.ready));
    std::exception_ptr failure = caught([&] { job.task(context()); });
    job.task = nullptr;
    if (!world_.ahead()) settle();
    if (failure) failed_.push_back(job.work);
    job.work->finish(std::move(failure), current_time());
  }
}

void SimStream::end() {
  settle();
  communicator_.flush();
  for (SimStream* child : forked_) child->close();
}

std::exception_ptr SimStream::unobserved_failure() const {
  for (const auto& work : failed_)
    if (!work->observed_) return work->failure_;
  return nullptr;
}

}  // namespace trigram::sim
