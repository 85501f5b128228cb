#include "core/check.h"

#include <string_view>

namespace trigram {

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  std::string_view path = file;
  if (auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  throw InvariantError(fmt::format("{} [{} is false at {}:{}]", message, condition, path, line));
}

}  // namespace trigram
