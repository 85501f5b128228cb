#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/accelerator_backend.h"
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
  void hear(const std::string& text);

 private:
  ControlChannel& control_channel_;
  const int rank_, size_;
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

}  // namespace trigram::mpi
