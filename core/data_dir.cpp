#include "core/data_dir.h"

#include <cstdlib>
#include <system_error>

namespace trigram {
namespace {

std::filesystem::path& fallback() {
  static std::filesystem::path folder = TRIGRAM_SOURCE_DIR;
  return folder;
}

}  // namespace

void set_fallback_data_dir(std::filesystem::path folder) { fallback() = std::move(folder); }

std::filesystem::path data_dir() {
  if (const char* named = std::getenv("TRIGRAM_DATA_DIR"); named && *named) return named;
  std::error_code ignored;
  return data_dir_of(std::filesystem::read_symlink("/proc/self/exe", ignored));
}

std::filesystem::path data_dir_of(const std::filesystem::path& executable) {
  std::error_code ignored;
  const auto installed = executable.parent_path().parent_path() / "share" / "trigram";
  if (std::filesystem::is_directory(installed / "configs", ignored)) return installed;
  return fallback();
}

}  // namespace trigram
