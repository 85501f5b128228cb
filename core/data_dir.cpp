#include "core/data_dir.h"

#include <cstdlib>
#include <system_error>

namespace trigram {

std::filesystem::path data_dir() {
  if (const char* named = std::getenv("TRIGRAM_DATA_DIR"); named && *named) return named;
  std::error_code ignored;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto installed = executable.parent_path().parent_path() / "share" / "trigram";
  if (std::filesystem::is_directory(installed / "configs", ignored)) return installed;
  return TRIGRAM_SOURCE_DIR;
}

}  // namespace trigram
