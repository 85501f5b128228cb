#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config_error.h"
#include "core/config/units.h"
#include "core/json.h"

namespace trigram {

/// Makes a JSON Schema (draft-07). Few processes need any, and schemas of components hold those of
/// their components, so they are made on demand.
using Schema = std::function<Json()>;

/// How a value of type T is represented in JSON: parsed strictly, dumped canonically, described by
/// a schema. `parse` throws ConfigError with the given pointer.
template <class T>
struct OptionType {
  std::function<T(const Json&, const std::string& pointer)> parse;
  std::function<Json(const T&)> dump;
  Schema schema;
};

OptionType<bool> boolean();
OptionType<std::string> text();
OptionType<std::int64_t> integer(std::int64_t minimum, std::int64_t maximum = INT64_MAX);
/// Which end of a range is excluded.
enum class Open { none, below, above };
/// A finite number in [minimum, maximum], except the end that `open` excludes. `maximum` may be
/// infinite.
OptionType<double> number(double minimum, double maximum, Open open = Open::none);
/// A quantity with a unit, held in base units; not negative, and not zero if `positive`.
OptionType<double> quantity(Dimension dimension, bool positive = false);
/// A size with a unit, such as "10MiB".
OptionType<std::size_t> byte_size();

/// One of a few names.
template <class T>
OptionType<T> one_of(std::vector<std::pair<std::string, T>> choices);

template <class T>
OptionType<std::vector<T>> list_of(OptionType<T> item);

/// A text for quoting in an error: truncated if it is long.
std::string shortened(const std::string& text);
/// A value for quoting in an error: as JSON, truncated if it is long.
std::string quoted(const Json& value);
/// The error for a value of the wrong type: "expected a boolean, not 3".
[[noreturn]] void wrong_type(const std::string& pointer, const std::string& expected,
                             const Json& got);
/// The error for a name that is not in `names`. If no name is similar, suggests a name whose text
/// in `docs` mentions the word: "gpu" suggests the world whose text mentions GPUs. `docs` is empty
/// or has one text per name.
[[noreturn]] void unknown_name(const std::string& pointer, const std::string& what,
                               const std::string& got, const std::vector<std::string>& names,
                               const std::vector<std::string>& docs = {});
/// `pointer` extended by a key, escaped as in RFC 6901.
std::string child(const std::string& pointer, const std::string& key);

/// The index in `names` of the text at `pointer`.
std::size_t index_of_name(const std::vector<std::string>& names, const Json& j,
                          const std::string& pointer);
Json schema_of_names(const std::vector<std::string>& names);

template <class T>
OptionType<T> one_of(std::vector<std::pair<std::string, T>> choices) {
  std::vector<std::string> names;
  std::vector<T> values;
  for (auto& [name, value] : choices) {
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  }
  return {[names, values](const Json& j, const std::string& pointer) -> T {
            return values[index_of_name(names, j, pointer)];
          },
          [names, values](const T& value) -> Json {
            for (std::size_t i = 0; i < values.size(); ++i)
              if (values[i] == value) return names[i];
            return nullptr;
          },
          [names] { return schema_of_names(names); }};
}

template <class T>
OptionType<std::vector<T>> list_of(OptionType<T> item) {
  return {[item](const Json& j, const std::string& pointer) {
            if (!j.is_array()) wrong_type(pointer, "a list", j);
            std::vector<T> values;
            Mistakes mistakes;
            for (std::size_t i = 0; i < j.size(); ++i)
              mistakes.passes(
                  [&] { values.push_back(item.parse(j[i], child(pointer, std::to_string(i)))); });
            mistakes.raise();
            return values;
          },
          [item](const std::vector<T>& values) {
            Json j = Json::array();
            for (const T& value : values) j.push_back(item.dump(value));
            return j;
          },
          [schema = item.schema]() -> Json {
            return {{"type", "array"}, {"items", schema()}};
          }};
}

/// A non-negative integer that counts things.
OptionType<std::size_t> count(std::int64_t minimum, std::int64_t maximum = INT64_MAX);

/// A list of counts; a single count is read as a list of length 1.
OptionType<std::vector<std::size_t>> counts(std::int64_t minimum, std::int64_t maximum);

/// A value that may be absent or null.
template <class T>
OptionType<std::optional<T>> optional(OptionType<T> inner) {
  return {[inner](const Json& j, const std::string& pointer) -> std::optional<T> {
            if (j.is_null()) return std::nullopt;
            return inner.parse(j, pointer);
          },
          [inner](const std::optional<T>& value) -> Json {
            return value ? inner.dump(*value) : Json();
          },
          [schema = inner.schema]() -> Json {
            return {{"anyOf", {schema(), {{"type", "null"}}}}};
          }};
}

/// Changes `kind` so that it dumps a value only if `condition` holds for it; otherwise the field is
/// absent.
template <class T, class Condition>
OptionType<T> dumped_if(OptionType<T> kind, Condition condition) {
  kind.dump = [dump = std::move(kind.dump), condition](const T& value) {
    return condition(value) ? dump(value) : Json();
  };
  return kind;
}

}  // namespace trigram
