#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace trigram {

/// A violated invariant of the program. Bad user input is a ConfigError instead.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line,
                             const std::string& message);

}  // namespace trigram

/// Throws InvariantError with a formatted message when `condition` is false.
#define TRIGRAM_CHECK(condition, ...)                                                    \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::trigram::fail_check(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
