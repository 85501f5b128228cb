#pragma once

#include <optional>

#include "core/config/option_type.h"

namespace trigram {

/// A non-negative integer that counts things.
OptionType<std::size_t> count(std::int64_t minimum, std::int64_t maximum = INT64_MAX);

/// A list of counts; a single count is read as a list of length 1.
OptionType<std::vector<std::size_t>> counts(std::int64_t minimum, std::int64_t maximum);

/// A value that may be absent or null.
template <class T>
OptionType<std::optional<T>> optional(OptionType<T> inner) {
  Json schema = {{"anyOf", {inner.schema, {{"type", "null"}}}}};
  return {[inner](const Json& j, const std::string& pointer) -> std::optional<T> {
            if (j.is_null()) return std::nullopt;
            return inner.parse(j, pointer);
          },
          [inner](const std::optional<T>& value) -> Json {
            return value ? inner.dump(*value) : Json();
          },
          std::move(schema)};
}

/// Changes `kind` so that it dumps a value only if `written` holds for it; otherwise the field is
/// absent.
template <class T, class Written>
OptionType<T> written_where(OptionType<T> kind, Written written) {
  kind.dump = [dump = std::move(kind.dump), written](const T& value) {
    return written(value) ? dump(value) : Json();
  };
  return kind;
}

}  // namespace trigram
