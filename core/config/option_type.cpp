#include "core/config/option_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace trigram {
namespace {

/// Runs `parse` and turns its std::invalid_argument into a ConfigError at `pointer`.
template <class F>
auto at(const std::string& pointer, F parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw ConfigError(pointer, error.what());
  }
}

std::string unit_pattern(Dimension dimension) {
  return fmt::format("^[0-9.]+([eE][-+]?[0-9]+)? *({})$", fmt::join(unit_names(dimension), "|"));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string did_you_mean_by_doc(const std::string& got, const std::vector<std::string>& names,
                                const std::vector<std::string>& docs) {
  constexpr std::size_t kShortest = 3;
  if (got.size() < kShortest) return "";
  for (std::size_t i = 0; i < docs.size(); ++i)
    if (lower(docs[i]).find(lower(got)) != std::string::npos) return did_you_mean(names[i]);
  return "";
}

}  // namespace

std::string shortened(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

std::string quoted(const Json& value) {
  return shortened(value.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

void wrong_type(const std::string& pointer, const std::string& expected, const Json& got) {
  throw ConfigError(pointer, fmt::format("expected {}, not {}", expected, quoted(got)));
}

void unknown_name(const std::string& pointer, const std::string& what, const std::string& got,
                  const std::vector<std::string>& names, const std::vector<std::string>& docs) {
  if (names.empty())
    throw ConfigError(pointer,
                      fmt::format("unknown {} \"{}\"; expected none here", what, shortened(got)));
  std::string suggestion = did_you_mean(got, names);
  if (suggestion.empty()) suggestion = did_you_mean_by_doc(got, names, docs);
  throw ConfigError(pointer, fmt::format("unknown {} \"{}\"; expected one of {}{}", what,
                                         shortened(got), fmt::join(names, ", "), suggestion));
}

std::string child(const std::string& pointer, const std::string& key) {
  std::string escaped;
  for (char c : key) {
    if (c == '~') escaped += "~0";
    else if (c == '/') escaped += "~1";
    else escaped += c;
  }
  return pointer + "/" + escaped;
}

std::size_t index_of_name(const std::vector<std::string>& names, const Json& j,
                          const std::string& pointer) {
  if (!j.is_string()) wrong_type(pointer, "a name", j);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (j == names[i]) return i;
  unknown_name(pointer, "value", j.get<std::string>(), names);
}

Json schema_of_names(const std::vector<std::string>& names) {
  return {{"type", "string"}, {"enum", names}};
}

OptionType<bool> boolean() {
  return {[](const Json& j, const std::string& pointer) {
            if (!j.is_boolean()) wrong_type(pointer, "true or false", j);
            return j.get<bool>();
          },
          [](const bool& value) -> Json { return value; },
          []() -> Json {
            return {{"type", "boolean"}};
          }};
}

OptionType<std::string> text() {
  return {[](const Json& j, const std::string& pointer) {
            if (!j.is_string()) wrong_type(pointer, "a text", j);
            return j.get<std::string>();
          },
          [](const std::string& value) -> Json { return value; },
          []() -> Json {
            return {{"type", "string"}};
          }};
}

OptionType<std::int64_t> integer(std::int64_t minimum, std::int64_t maximum) {
  return {[minimum, maximum](const Json& j, const std::string& pointer) {
            const std::string range = maximum == INT64_MAX
                                          ? fmt::format("of at least {}", minimum)
                                          : fmt::format("from {} to {}", minimum, maximum);
            const bool representable =
                j.is_number_integer() &&
                !(j.is_number_unsigned() && j.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
            if (!representable) wrong_type(pointer, "an integer " + range, j);
            const auto value = j.get<std::int64_t>();
            if (value < minimum || value > maximum) wrong_type(pointer, "an integer " + range, j);
            return value;
          },
          [](const std::int64_t& value) -> Json { return value; },
          [minimum, maximum] {
            Json schema = {{"type", "integer"}, {"minimum", minimum}};
            if (maximum != INT64_MAX) schema["maximum"] = maximum;
            return schema;
          }};
}

OptionType<double> number(double minimum, double maximum, Open open) {
  const bool above = open == Open::above, below = open == Open::below;
  return {[=](const Json& j, const std::string& pointer) {
            const std::string expected =
                fmt::format("a number {} {}", below ? "above" : "from", minimum) +
                (std::isfinite(maximum) ? fmt::format(" {} {}", above ? "and below" : "to", maximum)
                                        : "");
            if (!j.is_number()) wrong_type(pointer, expected, j);
            const double value = j.get<double>();
            if (!std::isfinite(value) || value < minimum || value > maximum ||
                (below && value == minimum) || (above && value == maximum))
              wrong_type(pointer, expected, j);
            return value;
          },
          [](const double& value) -> Json { return value; },
          [=] {
            Json schema = {{"type", "number"}};
            if (std::isfinite(minimum)) schema[below ? "exclusiveMinimum" : "minimum"] = minimum;
            if (std::isfinite(maximum)) schema[above ? "exclusiveMaximum" : "maximum"] = maximum;
            return schema;
          }};
}

OptionType<double> quantity(Dimension dimension, bool positive) {
  return {[dimension, positive](const Json& j, const std::string& pointer) {
            return at(pointer, [&] {
              if (j.is_number())
                throw std::invalid_argument(fmt::format(
                    "the number {} lacks a unit; expected one of {}, as in \"{}{}\"", j.dump(),
                    fmt::join(unit_names(dimension), ", "), j.dump(), unit_names(dimension)[1]));
              if (!j.is_string()) wrong_type(pointer, "a text with a number and a unit", j);
              const double value = parse_quantity(j.get<std::string>(), dimension);
              if (value < 0) wrong_type(pointer, "a quantity that is not negative", j);
              if (positive && value == 0) wrong_type(pointer, "a quantity above zero", j);
              return value;
            });
          },
          [dimension](const double& value) -> Json { return format_quantity(value, dimension); },
          [dimension]() -> Json {
            return {{"type", "string"}, {"pattern", unit_pattern(dimension)}};
          }};
}

OptionType<std::size_t> byte_size() {
  auto bytes = quantity(Dimension::bytes);
  return {[bytes](const Json& j, const std::string& pointer) {
            const double value = bytes.parse(j, pointer);
            if (value != std::floor(value) || value > 1e18)
              wrong_type(pointer, "a whole number of bytes", j);
            return static_cast<std::size_t>(value);
          },
          [bytes](const std::size_t& value) { return bytes.dump(static_cast<double>(value)); },
          bytes.schema};
}

OptionType<std::size_t> count(std::int64_t minimum, std::int64_t maximum) {
  auto inner = integer(minimum, maximum);
  return {
      [inner](const Json& j, const std::string& pointer) {
        return static_cast<std::size_t>(inner.parse(j, pointer));
      },
      [inner](const std::size_t& value) { return inner.dump(static_cast<std::int64_t>(value)); },
      inner.schema};
}

OptionType<std::vector<std::size_t>> counts(std::int64_t minimum, std::int64_t maximum) {
  auto single = count(minimum, maximum);
  auto list = list_of(single);
  return {[single, list](const Json& j, const std::string& pointer) {
            return j.is_array() ? list.parse(j, pointer) : std::vector{single.parse(j, pointer)};
          },
          list.dump,
          [single = single.schema, list = list.schema]() -> Json {
            return {{"anyOf", {single(), list()}}};
          }};
}

}  // namespace trigram
