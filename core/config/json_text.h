#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// The error for a text that is not acceptable JSON. `place` is "line:column", or empty if unknown.
class JsonTextError : public std::runtime_error {
 public:
  JsonTextError(std::string place, const std::string& why)
      : std::runtime_error(why), place_(std::move(place)) {}
  const std::string& place() const { return place_; }

 private:
  std::string place_;
};

/// Parses JSON with comments. Throws JsonTextError for text that is not JSON, for a number that
/// does not fit a double, for a duplicate key in an object, and for more than 100 levels of
/// nesting, which could exhaust the stack of code that walks a value recursively.
Json parse_json(const std::string& text);

/// Parses JSON without comments; returns nullopt if the text is not acceptable JSON.
std::optional<Json> try_parse_json(const std::string& text);

/// The text at a key of an object; empty if the key is missing or its value is not a string.
/// For files that other programs may have written.
std::string text_or_empty(const Json& object, const char* key);

}  // namespace trigram
