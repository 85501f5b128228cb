#include "runtime/mpi/bootstrap.h"

#include "core/check.h"

namespace trigram::mpi {

void MpiBootstrap::put(const std::string& key, const std::string& value) {
  const std::string text = key + '\0' + value;
  hear(text);
  for (int other = 0; other < size_; ++other)
    if (other != rank_) control_channel_.send(other, {.kind = ControlMessage::put, .text = text});
}

std::optional<std::string> MpiBootstrap::get(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void MpiBootstrap::hear(const std::string& text) {
  const std::string key = text.substr(0, text.find('\0'));
  std::lock_guard lock(mutex_);
  const bool is_new = values_.emplace(key, text.substr(key.size() + 1)).second;
  TRIGRAM_CHECK(is_new, "two ranks put {}", key);
}

}  // namespace trigram::mpi
