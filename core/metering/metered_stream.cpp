#include "core/metering/metered_stream.h"

#include "core/metering/metered_rank.h"

namespace trigram {
namespace {

/// `after`, with the runtime's stream in place of the MeteredStream that every Context outside this
/// layer holds.
Context raw_context(const Context& after) {
  Context context = after;
  context.stream = static_cast<MeteredStream*>(after.stream)->raw();
  return context;
}

}  // namespace

Context MeteredStream::instrument(const Context& raw) {
  raw_ = raw.stream;
  if (!comm_) {
    name_ = raw.stream->name();
    comm_.emplace(*raw.comm, *raw.stream, *rank_, tally_, label_);
    if (raw.control && is_main_) control_.emplace(*raw.control, *this);
    Device& device = rank_->phantom() ? rank_->null_device() : *raw.device;
    device_.emplace(device, *this);
  }
  Context context = raw;
  context.stream = this;
  context.comm = &*comm_;
  if (control_) context.control = &*control_;
  context.device = &*device_;
  return context;
}

Task MeteredStream::metered(Task task, const StepLabel& label) {
  return [self = shared_from_this(), task = std::move(task), label](const Context& raw) {
    self->label_ = label;
    task(self->instrument(raw));
  };
}

/// Runs `operation` and reports its interval. Also adds its time to `tally`, unless that is null.
/// The stream may be destroyed before the accelerator reports the times, but the rank is not.
template <class F>
void MeteredStream::report(Event::Kind kind, F operation, Tally<double>* tally, Cost::Kind cost) {
  if (!tally && !rank_->sink()) return operation();
  using Then = std::function<void(double, double)>;
  timed(*raw_, *rank_, operation, [=, this, &rank = *rank_]() -> Then {
    if (!rank.sink())  // fits into a std::function without an allocation
      return [tally](double begin_s, double end_s) { tally->add(end_s - begin_s); };
    return [=, &rank, event = Event{kind, rank_->rank(), name_, 0, 0, -1, 0, 0, label_, cost}](
               double begin_s, double end_s) mutable {
      if (tally) tally->add(end_s - begin_s);
      event.begin_s = begin_s;
      event.end_s = end_s;
      if (end_s > begin_s) rank.sink()(event);
    };
  });
}

void MeteredStream::sleep_for(double seconds) {
  const double begin_s = now();
  raw_->sleep_for(seconds);
  tally_.sleep_s.add(now() - begin_s);
}

void MeteredStream::charge(const Cost& cost) {
  const double factor = rank_->compute_factor();
  report(
      Event::compute, [&] { raw_->charge(factor * cost); }, nullptr, cost.kind);
}

void MeteredStream::compute(double seconds) {
  report(Event::compute, [&] { raw_->compute(seconds * rank_->compute_factor()); });
}

std::unique_ptr<Stream> MeteredStream::fork(const std::string& name) {
  const Fork* const known = kept(name);
  const Fork fork = known ? *known : keep(name, raw_->fork(name));
  ++next_fork_;
  return std::make_unique<ForkedStream>(fork.raw, fork.tasks);
}

OneWay MeteredStream::fork_one_way(const std::string& name) {
  const std::string out_name = name + " out", in_name = name + " in";
  const Fork* const known = kept(out_name);
  Fork out, in;
  if (known) {
    out = *known;
    in = forks_[next_fork_ + 1];
  } else {
    OneWay raw = raw_->fork_one_way(name);
    out = keep(out_name, std::move(raw.out));
    in = keep(in_name, std::move(raw.in));
  }
  next_fork_ += 2;
  return {std::make_unique<ForkedStream>(out.raw, out.tasks),
          std::make_unique<ForkedStream>(in.raw, in.tasks)};
}

MeteredStream::Fork MeteredStream::keep(const std::string& name, std::unique_ptr<Stream> raw) {
  Fork fork{name, std::move(raw), std::make_shared<MeteredStream>(rank_)};
  if (keeps_forks_) forks_.push_back(fork);
  return fork;
}

const MeteredStream::Fork* MeteredStream::kept(const std::string& name) {
  if (next_fork_ < forks_.size() && forks_[next_fork_].name == name) return &forks_[next_fork_];
  if (next_fork_ < forks_.size()) forks_.resize(next_fork_);  // another algorithm forks others
  return nullptr;
}

std::shared_ptr<Work> MeteredStream::submit(const Context& after, Task task) {
  return raw_->submit(raw_context(after), metered(std::move(task), label_));
}

void MeteredStream::wait(Work& work) {
  wait_in([&] { raw_->wait(work); });
}

void MeteredStream::wait_in(const std::function<void()>& operation) {
  report(Event::wait, operation, &tally_.wait_s);
}

std::optional<Message> MeteredControl::receive(int tag) {
  std::optional<Message> message;
  stream_.wait_in([&] { message = raw_.receive(tag); });
  return message;
}

std::shared_ptr<Work> ForkedStream::submit(const Context& after, Task task) {
  const StepLabel& label = static_cast<MeteredStream*>(after.stream)->label();
  return raw_->submit(raw_context(after), tasks_->metered(std::move(task), label));
}

}  // namespace trigram
