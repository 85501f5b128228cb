#include "experiments/checkpoint/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "core/config/json_text.h"
#include "experiments/results/durable.h"
#include "experiments/sha256.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStepPrefix = "step-";
constexpr const char* kComplete = "complete.json";

/// The step of a folder; empty if this is not the name of one.
std::optional<long> step_of(const fs::path& folder) {
  const std::string name = folder.filename().string(), prefix = kStepPrefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  long step = 0;
  const char* const end = name.data() + name.size();
  const auto [parsed, error] = std::from_chars(name.data() + prefix.size(), end, step);
  return error == std::errc{} && parsed == end ? std::optional(step) : std::nullopt;
}

/// The last `length` bytes of a file, or all of them. Throws std::runtime_error.
std::string read_end(const fs::path& path, std::uintmax_t length) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw std::runtime_error("cannot be read: " + error.message());
  std::string content(std::min(size, length), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(size - content.size()));
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file) throw std::runtime_error("cannot be read");
  return content;
}

std::string read_whole(const fs::path& path) {
  return read_end(path, std::numeric_limits<std::uintmax_t>::max());
}

void write_whole(const fs::path& path, const std::string& content) {
  const fs::path next = path.string() + ".tmp";
  write_durably(next, content);
  fs::rename(next, path);
  sync_to_disk(path.parent_path());
}

}  // namespace

fs::path CheckpointFolder::of_step(long step) const {
  return folder_ / fmt::format("{}{:06}", kStepPrefix, step);
}

fs::path CheckpointFolder::of_rank(long step, int rank) const {
  return of_step(step) / fmt::format("rank-{:04}.bin", rank);
}

void CheckpointFolder::begin(long step) const {
  fs::remove_all(of_step(step));
  fs::create_directories(of_step(step));
  sync_to_disk(folder_);
}

void CheckpointFolder::write(long step, int rank, const SavedState& state) const {
  write_whole(of_rank(step, rank), state.to_file());
}

void CheckpointFolder::complete(long step, int ranks, const Json& about, long keep,
                                double write_s) const {
  Json checksums = Json::array();
  for (int rank = 0; rank < ranks; ++rank)
    checksums.push_back(SavedState::checksum_of(read_end(of_rank(step, rank), 64)));
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const Json content = {{"format", kCheckpointFormat},
                        {"about", about},
                        {"completed_s", now.count()},
                        {"write_s", write_s},
                        {"sha256", checksums}};
  const std::string checksum = Sha256().update(content.dump()).hex();
  write_whole(of_step(step) / kComplete,
              Json{{"content", content}, {"sha256", checksum}}.dump(2) + "\n");
  const std::vector<long> complete = steps();
  const long oldest = complete[std::min(complete.size(), static_cast<std::size_t>(keep)) - 1];
  for (const auto& entry : fs::directory_iterator(folder_))
    if (const auto other = step_of(entry.path()); other && *other < oldest)
      fs::remove_all(entry.path());
}

std::vector<long> CheckpointFolder::steps() const {
  std::vector<long> all;
  if (!fs::is_directory(folder_)) return all;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (const auto step = step_of(entry.path()); step && fs::exists(entry.path() / kComplete))
      all.push_back(*step);
  std::ranges::sort(all, std::greater());
  return all;
}

Json CheckpointFolder::complete_json(long step) const {
  const fs::path path = of_step(step) / kComplete;
  const Json json = try_parse_json(read_whole(path)).value_or(Json());
  const Json content = json.is_object() ? json.value("content", Json()) : Json();
  if (!content.is_object() || json.value("sha256", Json()) != Sha256().update(content.dump()).hex())
    throw std::runtime_error(path.string() + " differs from its checksum");
  if (content.value("format", Json()) != kCheckpointFormat)
    throw OtherFormat(fmt::format("{} has format {}, this program's is {}", path.string(),
                                  content.value("format", Json()).dump(), kCheckpointFormat));
  return content;
}

Json CheckpointFolder::about(long step) const { return complete_json(step).value("about", Json()); }

int CheckpointFolder::ranks(long step) const {
  return static_cast<int>(complete_json(step).at("sha256").size());
}

double CheckpointFolder::completed_s(long step) const {
  return complete_json(step).value("completed_s", 0.0);
}

Json CheckpointFolder::write_s(long step) const {
  return complete_json(step).value("write_s", Json());
}

SavedState CheckpointFolder::read(long step, int rank) const {
  const fs::path path = of_rank(step, rank);
  try {
    return SavedState::from_file(read_whole(path));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{} {}", path.string(), error.what()));
  }
}

void CheckpointFolder::verify(long step) const {
  const Json checksums = complete_json(step).at("sha256");
  for (int rank = 0; rank < static_cast<int>(checksums.size()); ++rank) {
    read(step, rank);
    const std::string checksum = read_end(of_rank(step, rank), 64);
    if (checksum != checksums.at(static_cast<std::size_t>(rank)))
      throw std::runtime_error(of_rank(step, rank).string() + " is of another checkpoint");
  }
}

std::optional<long> CheckpointFolder::latest_valid(std::vector<std::string>& passed_over) const {
  for (const long step : steps()) {
    try {
      verify(step);
      return step;
    } catch (const std::exception& error) {
      passed_over.push_back(
          fmt::format("the checkpoint of step {} is not used: {}", step, error.what()));
    }
  }
  return std::nullopt;
}

void CheckpointFolder::remove() const { fs::remove_all(folder_); }

}  // namespace trigram
