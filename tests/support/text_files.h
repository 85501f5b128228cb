#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/json.h"

namespace trigram::test {

/// A small text file, which the destructor deletes: 48 lines of uneven lengths.
class TextFile {
 public:
  TextFile() : TextFile(lines(48)) {}
  explicit TextFile(const std::string& text)
      : path_(std::filesystem::path(::testing::TempDir()) /
              ("trigram_text_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The workload of a small language model that is trained on the file.
  Json small_workload(const std::string& model) const {
    return {{"name", "text"}, {"model", model},        {"width", 8}, {"layers", 1}, {"batch", 2},
            {"held_out", 4},  {"data", path_.string()}};
  }
  /// The same, with balanced mini-batches of at most 60 bytes.
  Json balanced_workload(const std::string& model) const {
    Json workload = small_workload(model);
    workload.erase("batch");
    workload["loader"] = {{"order", "balanced"}, {"tokens", 60}};
    return workload;
  }
  static std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "line " + std::to_string(i) + ' ';
      text.append(static_cast<std::size_t>(i * 7 % 11), static_cast<char>('a' + i % 5));
      text += '\n';
    }
    return text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace trigram::test
