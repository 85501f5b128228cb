#include "core/config/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace trigram {
namespace {

constexpr int kDeepest = 100;

/// Thrown from the parser's callback to refuse text that the parser itself would accept.
struct Refused {
  std::string why;
};

/// The parser's callback. It refuses deep nesting and duplicate keys.
class ParserCallback {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth >= kDeepest)
      throw Refused{fmt::format("expected JSON that is nested at most {} levels deep", kDeepest)};
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second)
      throw Refused{fmt::format("the key {} is given twice", parsed.dump())};
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

std::string place_of(const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
  const std::size_t line_start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = line_start == std::string::npos ? end : end - line_start - 1;
  return fmt::format("{}:{}", line, std::max<std::size_t>(column, 1));
}

/// nlohmann's description of the error, without its number and position.
std::string reason(const Json::exception& error) {
  const std::string text = error.what();
  const std::size_t detail = text.find("- ");
  std::string tail = detail == std::string::npos ? text : text.substr(detail + 2);
  std::replace(tail.begin(), tail.end(), '\n', ' ');
  return tail;
}

/// The number quoted in the parser's message: "... parsing '1e309'".
std::string quoted_number(const Json::out_of_range& error) {
  const std::string text = error.what();
  const std::size_t end = text.rfind('\''), begin = text.rfind('\'', end - 1);
  return end == text.npos || begin == text.npos ? "" : text.substr(begin + 1, end - begin - 1);
}

Json parse(const std::string& text, bool comments) {
  ParserCallback callback;
  const auto check = [&callback](int depth, Json::parse_event_t event, Json& parsed) {
    return callback(depth, event, parsed);
  };
  try {
    return Json::parse(text, check, /*allow_exceptions=*/true, comments);
  } catch (const Json::parse_error& error) {
    throw JsonTextError(place_of(text, error.byte), "expected JSON: " + reason(error));
  } catch (const Json::out_of_range& error) {
    const std::string number = quoted_number(error);
    throw JsonTextError(
        place_of(text, text.find(number) + 1),
        fmt::format("expected a number between -1.8e308 and 1.8e308, not {}", number));
  } catch (const Refused& refused) {
    throw JsonTextError("", refused.why);
  }
}

}  // namespace

Json parse_json(const std::string& text) { return parse(text, true); }

std::optional<Json> try_parse_json(const std::string& text) {
  try {
    return parse(text, false);
  } catch (const JsonTextError&) {
    return std::nullopt;
  }
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace trigram
