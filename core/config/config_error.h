#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace trigram {

/// Bad input. `what()` is one line: the JSON pointer, what was wrong and expected, the nearest
/// valid name. Programs that meet one exit with code 2.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(std::string pointer, const std::string& message)
      : std::runtime_error((pointer.empty() ? "/" : pointer) + ": " + message),
        pointer_(std::move(pointer)) {}
  const std::string& pointer() const { return pointer_; }

 private:
  std::string pointer_;
};

/// `; did you mean "ring"?` for the candidate nearest to `name` by edit distance, or an empty
/// string when none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace trigram
