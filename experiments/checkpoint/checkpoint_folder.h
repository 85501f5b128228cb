#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/checkpoint/saved_state.h"

namespace trigram {

/// A checkpoint that another version of the program has written.
class OtherFormat : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The checkpoints of a run: FOLDER/step-000120/rank-0003.bin for every rank, and
/// step-000120/complete.json, which is written last and names the checksums of all files. A
/// checkpoint without complete.json does not count. All functions throw
/// std::filesystem::filesystem_error if the file system fails.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Makes an empty folder for the checkpoint after `step` steps; what was there is removed.
  void begin(long step) const;
  /// Writes the file of a rank. It has its name only when all of it is on disk.
  void write(long step, int rank, const SavedState& state) const;
  /// Makes the checkpoint count, and then removes all but the latest `keep`. All ranks have written
  /// their files, for which the first one took `write_s`. `about` describes the run.
  void complete(long step, int ranks, const Json& about, long keep, double write_s) const;

  /// The steps of the checkpoints that count, from the latest one on.
  std::vector<long> steps() const;
  /// The `about` of a checkpoint that counts. Throws OtherFormat, or another std::runtime_error if
  /// the file is not what was written.
  Json about(long step) const;
  /// The number of ranks that wrote a checkpoint.
  int ranks(long step) const;
  /// When a checkpoint was completed, in seconds since 1970.
  double completed_s(long step) const;
  /// How long the first rank took to write its file, in seconds; null if it is not known.
  Json write_s(long step) const;
  /// The state of a rank. Throws std::runtime_error, whose text names the file, if the file is not
  /// what was written.
  SavedState read(long step, int rank) const;
  /// The latest checkpoint of which all files are what was written; empty if there is none. Adds a
  /// sentence to `passed_over` for each later one.
  std::optional<long> latest_valid(std::vector<std::string>& passed_over) const;
  /// Removes all checkpoints.
  void remove() const;

 private:
  std::filesystem::path of_step(long step) const;
  std::filesystem::path of_rank(long step, int rank) const;
  Json complete_json(long step) const;
  /// Throws std::runtime_error if a file is not what was written.
  void verify(long step) const;

  std::filesystem::path folder_;
};

}  // namespace trigram
