#include "experiments/traces/trace_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/files.h"

namespace trigram {
namespace {

/// "line 3, column 17" of a byte.
std::string place_of(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  const auto lines = std::count(text.begin(), end, '\n');
  const std::size_t before = byte == 0 ? std::string::npos : text.rfind('\n', byte - 1);
  const std::size_t column = before == std::string::npos ? byte : byte - before - 1;
  return fmt::format("line {}, column {}", lines + 1, column + 1);
}

}  // namespace

std::vector<Json> read_json_values(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_text_file(file);
  } catch (const std::runtime_error& error) {
    throw ConfigError("TRACE", error.what());
  }
  const auto fails = [&](const std::string& what) {
    throw ConfigError("TRACE", fmt::format("{}: {}", file.string(), what));
  };
  if (text.starts_with("\x1f\x8b"))
    fails("is compressed; expected JSON: unpack it first, for example with gunzip");
  std::istringstream in(text);
  std::vector<Json> values;
  while ((in >> std::ws) && in.peek() != std::istringstream::traits_type::eof()) {
    const auto begin = static_cast<std::size_t>(in.tellg());
    if (values.empty() && text[begin] != '{' && text[begin] != '[')
      fails(
          "is not JSON; expected a trace of torch.profiler, or a Chakra execution trace in JSON "
          "(chakra_jsonizer converts the binary form)");
    try {
      in >> values.emplace_back();
    } catch (const Json::exception& error) {
      in.clear();
      // The parser reports how many characters of this value it has read.
      const auto* syntax = dynamic_cast<const Json::parse_error*>(&error);
      const std::size_t byte = begin + (syntax && syntax->byte > 0 ? syntax->byte - 1 : 0);
      fails(byte >= text.size()
                ? fmt::format("{}: the file ends inside a JSON value; it is truncated",
                              place_of(text, text.size()))
                : fmt::format("{}: expected valid JSON", place_of(text, byte)));
    }
  }
  if (values.empty()) fails("is empty; expected a trace in JSON");
  return values;
}

std::optional<double> number_at(const Json& object, const std::string& key,
                                const std::string& pointer) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  double value = NAN;
  if (found->is_number()) {
    value = found->get<double>();
  } else if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) value = NAN;
  }
  if (!std::isfinite(value))
    throw ConfigError(fmt::format("{}/{}", pointer, key),
                      fmt::format("expected a number, not {}", found->dump().substr(0, 60)));
  return value;
}

std::string left_out(const std::string& what) { return "left out: " + what; }

}  // namespace trigram
