#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option_type.h"
#include "core/training_state.h"

namespace trigram {

/// The version of the format of checkpoints. A program reads only its own version.
inline constexpr int kCheckpointFormat = 2;

/// The state of one rank, as a checkpoint stores it: tensors and bytes by name.
class SavedState {
 public:
  struct Entry {
    bool is_tensor = false;
    DType dtype = DType::u8;
    std::size_t numel = 0, priced_numel = 0;
    std::string bytes = {};  // empty for a phantom tensor
  };

  Entry& operator[](const std::string& name) { return entries_[name]; }
  /// Throws std::runtime_error if there is no such entry.
  const Entry& at(const std::string& name) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }
  /// Entries whose names begin with this are records of the run, not state that training depends
  /// on.
  static constexpr const char* kRecords = "run/";
  /// The bytes that a real run of this model would write: the priced lengths of tensors count, and
  /// records do not.
  double priced_bytes() const;

  /// The content of a file: a header in JSON, the bytes of all entries, and the SHA-256 of both.
  std::string to_file() const;
  /// Throws std::runtime_error, whose text is a phrase that follows the name of the file, if the
  /// content is not exactly what `to_file` returned.
  static SavedState from_file(std::string_view content);
  /// The SHA-256 in the content of a file, which is not checked; "" if the content is too short.
  static std::string_view checksum_of(std::string_view content);

 private:
  std::map<std::string, Entry> entries_;
};

/// Copies what it visits into a SavedState. `device` must take no simulated time.
class StateSaver final : public StateVisitor {
 public:
  StateSaver(SavedState& to, Device& device, std::string prefix)
      : to_(to), device_(device), prefix_(std::move(prefix)) {}
  void tensor(const std::string& name, Tensor& x) override;
  void bytes(const std::string& name, std::span<std::byte> value) override;

 private:
  SavedState& to_;
  Device& device_;
  std::string prefix_;
};

/// Sets what it visits to what a StateSaver with the same prefix has saved. Throws
/// std::runtime_error if the saved state is another one.
class StateRestorer final : public StateVisitor {
 public:
  StateRestorer(const SavedState& from, Device& device, std::string prefix)
      : from_(from), device_(device), prefix_(std::move(prefix)) {}
  void tensor(const std::string& name, Tensor& x) override;
  void bytes(const std::string& name, std::span<std::byte> value) override;
  /// Puts everything under the prefix into `state`.
  void put_all(const TrainingState& state) const;

 private:
  const SavedState& from_;
  Device& device_;
  std::string prefix_;
};

}  // namespace trigram
