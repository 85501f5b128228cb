#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// Why a text is refused, and where, as "line:column"; the place is empty where it is not known.
class JsonTextError : public std::runtime_error {
 public:
  JsonTextError(std::string place, const std::string& why)
      : std::runtime_error(why), place_(std::move(place)) {}
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// Parses JSON in which comments are allowed. Throws JsonTextError for text that is not JSON, for a
/// number that no double holds, for a key that an object has twice, and for more than 100 levels of
/// nesting, since code that walks a value recursively would exhaust its stack.
Json parse_json(const std::string& text);

/// The same without comments; nullopt in place of an error.
std::optional<Json> json_or_nothing(const std::string& text);

}  // namespace trigram
