// Search spaces from JSON.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "experiments/tune/search_space.h"

namespace trigram {
namespace {

/// A dimension with more values is probably a mistake; a real range has no such limit.
constexpr std::int64_t kMostValues = 100'000;
constexpr const char* kNone = "no point in the space";
constexpr const char* kForms =
    R"(one of {"values": [...]}, {"integer": [low, high]}, {"powers_of_two": [low, high]}, )"
    R"({"real": [low, high], "log": true})";

[[noreturn]] void no_point(const std::string& pointer, const std::string& why) {
  throw ConfigError(pointer, fmt::format("{}: {}", kNone, why));
}

/// The two ends of a range.
const Json& ends(const Json& range, const std::string& pointer) {
  if (!range.is_array() || range.size() != 2) wrong_type(pointer, "a range, [low, high]", range);
  return range;
}

template <class T>
void check_range(T low, T high, const Json& range, const std::string& pointer) {
  if (low > high)
    no_point(pointer, fmt::format("{} is above {}; expected [low, high]", quoted(range[0]),
                                  quoted(range[1])));
}

std::vector<Json> values_of_integers(const Json& range, const std::string& pointer) {
  std::array<std::int64_t, 2> end{};
  for (std::size_t i = 0; i < 2; ++i)
    end[i] = integer(std::numeric_limits<std::int64_t>::min() / 2,
                     std::numeric_limits<std::int64_t>::max() / 2)
                 .parse(range[i], child(pointer, std::to_string(i)));
  check_range(end[0], end[1], range, pointer);
  if (end[1] - end[0] >= kMostValues)
    throw ConfigError(pointer, fmt::format("expected at most {} values; a \"real\" range or "
                                           "\"powers_of_two\" may be wider",
                                           kMostValues));
  std::vector<Json> values;
  for (std::int64_t value = end[0]; value <= end[1]; ++value) values.emplace_back(value);
  return values;
}

/// A power of two, as a number or as a size with a unit.
std::uint64_t power_of_two(const Json& j, const std::string& pointer) {
  const bool sized = j.is_string();
  const std::uint64_t value =
      sized ? byte_size().parse(j, pointer)
            : static_cast<std::uint64_t>(integer(1, std::int64_t{1} << 62).parse(j, pointer));
  if (!std::has_single_bit(value)) wrong_type(pointer, "a power of two", j);
  return value;
}

std::vector<Json> values_of_powers(const Json& range, const std::string& pointer) {
  const std::uint64_t low = power_of_two(range[0], child(pointer, "0"));
  const std::uint64_t high = power_of_two(range[1], child(pointer, "1"));
  if (range[0].is_string() != range[1].is_string())
    wrong_type(pointer, "two numbers, or two sizes such as \"64KiB\"", range);
  check_range(low, high, range, pointer);
  std::vector<Json> values;
  for (std::uint64_t value = low; value <= high; value *= 2)
    values.push_back(range[0].is_string() ? Json(format_quantity(static_cast<double>(value),
                                                                 trigram::Dimension::bytes))
                                          : Json(value));
  return values;
}

void read_reals(SearchDimension& dimension, const Json& j, const std::string& pointer) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (j.contains("log")) dimension.logarithmic = boolean().parse(j["log"], child(pointer, "log"));
  const std::string at = child(pointer, "real");
  const Json& range = ends(j["real"], at);
  const double least = dimension.logarithmic ? 0 : std::numeric_limits<double>::lowest();
  const auto kind = number(least, kInfinity, dimension.logarithmic ? Open::below : Open::none);
  dimension.low = kind.parse(range[0], child(at, "0"));
  dimension.high = kind.parse(range[1], child(at, "1"));
  check_range(dimension.low, dimension.high, range, at);
}

SearchDimension parse_dimension(const std::string& option, const Json& j,
                                const std::string& pointer) {
  SearchDimension dimension;
  dimension.pointer = option;
  if (!option.starts_with("/"))
    throw ConfigError(pointer, "expected a JSON pointer, as in \"/algorithm/bucket\"");
  const std::size_t keys = j.is_object() ? j.size() : 0;
  const bool has_log = keys == 2 && j.contains("real") && j.contains("log");
  if (keys != 1 && !has_log) wrong_type(pointer, kForms, j);
  if (j.contains("real")) {
    read_reals(dimension, j, pointer);
    return dimension;
  }
  const std::string& form = j.begin().key();
  const Json& given = j.begin().value();
  const std::string at = child(pointer, form);
  dimension.kind = SearchDimension::Kind::ordered;
  if (form == "values") {
    if (!given.is_array()) wrong_type(at, "a list of values", given);
    if (given.empty()) no_point(at, "expected at least one value");
    dimension.kind = SearchDimension::Kind::categorical;
    dimension.values.assign(given.begin(), given.end());
  } else if (form == "integer") {
    dimension.values = values_of_integers(ends(given, at), at);
  } else if (form == "powers_of_two") {
    dimension.values = values_of_powers(ends(given, at), at);
  } else {
    wrong_type(pointer, kForms, j);
  }
  return dimension;
}

SearchSpace parse_space(const Json& j, const std::string& pointer) {
  if (!j.is_object()) wrong_type(pointer, "an object of JSON pointers to the values to try", j);
  if (j.empty()) no_point(pointer, "expected at least one JSON pointer with the values to try");
  SearchSpace space{{}, j};
  Mistakes mistakes;
  for (const auto& [option, values] : j.items())
    mistakes.passes([&, &option = option, &values = values] {
      space.dimensions.push_back(parse_dimension(option, values, child(pointer, option)));
    });
  mistakes.raise();
  return space;
}

Json schema_of_form(const char* form, const Json& value) {
  return {{"type", "object"},
          {"properties", {{form, value}}},
          {"required", {form}},
          {"additionalProperties", false}};
}

Json schema_of_range(const Json& items) {
  return {{"type", "array"}, {"items", items}, {"minItems", 2}, {"maxItems", 2}};
}

Json schema_of_space() {
  const Json number = {{"type", "number"}}, whole = {{"type", "integer"}};
  const Json power = {{"type", {"integer", "string"}}};
  Json real = schema_of_form("real", schema_of_range(number));
  real["properties"]["log"] = {{"type", "boolean"}};
  return {{"type", "object"},
          {"minProperties", 1},
          {"propertyNames", {{"pattern", "^/"}}},
          {"additionalProperties",
           {{"anyOf",
             {schema_of_form("values", {{"type", "array"}, {"minItems", 1}}),
              schema_of_form("integer", schema_of_range(whole)),
              schema_of_form("powers_of_two", schema_of_range(power)), real}}}}};
}

}  // namespace

OptionType<SearchSpace> search_space() {
  return {parse_space, [](const SearchSpace& space) { return space.definition; }, schema_of_space};
}

}  // namespace trigram
