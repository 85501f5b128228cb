#pragma once

#include <optional>

#include "core/config/kinds.h"

namespace trigram {

/// An option that may be absent, which is its default. Null is not the same as absent.
template <class T>
Kind<std::optional<T>> optional_kind(Kind<T> kind) {
  return {[parse = kind.parse](const Json& j, const std::string& pointer) {
            return std::optional<T>(parse(j, pointer));
          },
          [dump = kind.dump](const std::optional<T>& value) {
            return value ? dump(*value) : Json();
          },
          std::move(kind.schema)};
}

}  // namespace trigram
