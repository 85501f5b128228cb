#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/accelerator_backend.h"
#include "core/check.h"
#include "runtime/mpi/control_channel.h"

namespace trigram::mpi {

/// The key-value store with which accelerators start up. Every process keeps all values; a `put` is
/// broadcast by control messages.
class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(ControlChannel& control_channel, int rank, int size)
      : control_channel_(control_channel), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void put(const std::string& key, const std::string& value) override;
  std::optional<std::string> get(const std::string& key) override;

  /// Adds a value from a message of kind `put`, whose text is the key, a zero byte and the value.
  /// Any thread may call it.
  void store(const std::string& text);

 private:
  ControlChannel& control_channel_;
  const int rank_, size_;
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

inline void MpiBootstrap::put(const std::string& key, const std::string& value) {
  const std::string text = key + '\0' + value;
  store(text);
  for (int other = 0; other < size_; ++other)
    if (other != rank_) control_channel_.send(other, {.kind = ControlMessage::put, .text = text});
}

inline std::optional<std::string> MpiBootstrap::get(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

inline void MpiBootstrap::store(const std::string& text) {
  const std::string key = text.substr(0, text.find('\0'));
  std::lock_guard lock(mutex_);
  const bool is_new = values_.emplace(key, text.substr(key.size() + 1)).second;
  TRIGRAM_CHECK(is_new, "two ranks put {}", key);
}

}  // namespace trigram::mpi
