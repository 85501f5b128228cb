#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/accelerator_backend.h"
#include "runtime/mpi/post_office.h"

namespace trigram::mpi {

/// The store of an accelerator's start-up: each process has all of it, and hears of what others put
/// by letter.
class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(PostOffice& post_office, int rank, int size)
      : post_office_(post_office), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void put(const std::string& key, const std::string& value) override;
  std::optional<std::string> get(const std::string& key) override;

  /// The text of a letter has come. Any thread may call it.
  void hear(const std::string& text);

 private:
  PostOffice& post_office_;
  const int rank_, size_;
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

}  // namespace trigram::mpi
