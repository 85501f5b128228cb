#include "runtime/mpi/ending.h"

#include <algorithm>

#include "runtime/mpi/wire_error.h"

namespace trigram::mpi {

Ending::Ending(int self, int ranks)
    : self_(self),
      errors_(static_cast<std::size_t>(ranks)),
      ended_(static_cast<std::size_t>(ranks)) {}

bool Ending::fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  const bool is_new = !announced_ || (error && !own_error_);
  announced_ = true;
  if (!own_error_) own_error_ = error;
  return is_new;
}

void Ending::record_failure(int source, const std::string& error) {
  std::lock_guard lock(mutex_);
  std::string& known = errors_[static_cast<std::size_t>(source)];
  if (known.empty()) known = error;
  if (!error.empty()) cause_known_ = true;
  changed_.notify_all();
}

ControlMessage Ending::end_message(bool failed) {
  std::lock_guard lock(mutex_);
  return {.kind = ControlMessage::ended, .a = failed, .b = announced_};
}

void Ending::record_end(int source, const ControlMessage& message) {
  std::lock_guard lock(mutex_);
  ended_[static_cast<std::size_t>(source)] = true;
  failure_known_ |= message.a != 0;
  // A rank that has failed the world has already sent its error, if it has one: messages of a rank
  // keep their order.
  cause_known_ |= message.b != 0;
  changed_.notify_all();
}

/// The caller holds the mutex.
bool Ending::knows_all() const {
  return std::ranges::count(ended_, false) == 0 && (!failure_known_ || cause_known_);
}

bool Ending::all_known() {
  std::lock_guard lock(mutex_);
  return knows_all();
}

bool Ending::wait_until_all_known(Seconds longest) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, longest, [this] { return knows_all(); });
}

std::vector<int> Ending::missing() {
  std::lock_guard lock(mutex_);
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < ended_.size(); ++rank)
    if (!ended_[rank]) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

std::exception_ptr Ending::first_error() {
  std::lock_guard lock(mutex_);
  const auto first = std::ranges::find_if_not(errors_, [](const auto& e) { return e.empty(); });
  if (first == errors_.end()) return nullptr;
  return first - errors_.begin() == self_ ? own_error_ : error_from_bytes(*first);
}

void Ending::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool Ending::stopped() {
  std::lock_guard lock(mutex_);
  return stopped_;
}

bool Ending::wait_until_stopped(Seconds longest) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, longest, [this] { return stopped_; });
}

}  // namespace trigram::mpi
