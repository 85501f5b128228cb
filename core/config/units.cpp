#include "core/config/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <span>
#include <stdexcept>

#include "core/config/config_error.h"

namespace trigram {
namespace {

struct Unit {
  const char* name;
  double factor;  // base units per unit
};

constexpr Unit kDuration[] = {{"h", 3600},  {"min", 60},  {"s", 1},
                              {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
constexpr Unit kBandwidth[] = {{"Tbps", 1.25e11}, {"Gbps", 1.25e8},     {"Mbps", 1.25e5},
                               {"kbps", 125},     {"bps", 0.125},       {"GiB/s", 1073741824.0},
                               {"GB/s", 1e9},     {"MiB/s", 1048576.0}, {"MB/s", 1e6},
                               {"KiB/s", 1024},   {"kB/s", 1e3},        {"B/s", 1}};
constexpr Unit kBytes[] = {{"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024}, {"GB", 1e9},
                           {"MB", 1e6},           {"kB", 1e3},        {"B", 1}};
constexpr Unit kFlopRate[] = {
    {"PFLOP/s", 1e15}, {"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"MFLOP/s", 1e6}, {"FLOP/s", 1}};

/// The largest accepted value, in base units. No sensible input exceeds it, and sums and products
/// need headroom.
constexpr double kLargest = 1e18;

struct DimensionUnits {
  std::span<const Unit> units;
  const char* example;
};

constexpr DimensionUnits units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::duration: return {kDuration, "50us"};
    case Dimension::bandwidth: return {kBandwidth, "25Gbps"};
    case Dimension::bytes: return {kBytes, "10MiB"};
    case Dimension::flop_rate: return {kFlopRate, "15.7TFLOP/s"};
  }
  return {};
}

/// Converts to base units. A factor below 1, such as 1e-3, is not exact in binary, but its inverse
/// is an integer, so division by the inverse rounds only once.
double scale(double number, double factor) {
  return factor < 1 ? number / std::round(1 / factor) : number * factor;
}

double parse_number(std::string_view digits, std::string_view text, const char* example) {
  double number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(number))
    throw std::invalid_argument(
        fmt::format("expected a number with a unit, such as \"{}\", not \"{}\"", example, text));
  return number;
}

/// Our spelling of a unit that users often spell differently, such as "Gbit/s". Without it the
/// nearest name would be "GiB/s", which is eight times as much.
std::string respelt(std::string_view unit) {
  struct Spelling {
    std::string_view wrong, ours;
  };
  constexpr Spelling kEnds[] = {{"ib/s", "iB/s"},    {"bits/s", "bps"},  {"bit/s", "bps"},
                                {"Bit/s", "bps"},    {"b/s", "bps"},     {"bit/sec", "bps"},
                                {"Bps", "B/s"},      {"bytes/s", "B/s"}, {"Byte/s", "B/s"},
                                {"FLOPS", "FLOP/s"}, {"\u00b5s", "us"},  {"\u03bcs", "us"}};
  for (const auto& [wrong, ours] : kEnds)
    if (unit.ends_with(wrong))
      return fmt::format("{}{}", unit.substr(0, unit.size() - wrong.size()), ours);
  return std::string(unit);
}

}  // namespace

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : units_of(dimension).units) names.emplace_back(unit.name);
  return names;
}

double parse_quantity(std::string_view text, Dimension dimension) {
  const auto [units, example] = units_of(dimension);
  const std::size_t digits = text.find_first_not_of("+-.0123456789");
  std::size_t split = digits;
  // An exponent belongs to the number: "1e3B".
  if (split != text.npos && (text[split] == 'e' || text[split] == 'E') && split + 1 < text.size() &&
      std::string_view("+-0123456789").find(text[split + 1]) != std::string_view::npos)
    split = text.find_first_not_of("+-.0123456789", split + 1);
  if (split == text.npos)
    throw std::invalid_argument(
        fmt::format("\"{}\" lacks a unit; expected one such as \"{}\"", text, example));
  const double number = parse_number(text.substr(0, split), text, example);
  std::string_view suffix = text.substr(split);
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  for (const Unit& unit : units) {
    if (suffix != unit.name) continue;
    const double value = scale(number, unit.factor);
    if (std::fabs(value) <= kLargest) return value;
    throw std::invalid_argument(fmt::format("\"{}\" is out of range; expected at most \"{:g}{}\"",
                                            text, kLargest / unit.factor, unit.name));
  }
  const auto names = unit_names(dimension);
  throw std::invalid_argument(fmt::format("unknown unit \"{}\" in \"{}\"; expected one of {}{}",
                                          suffix, text, fmt::join(names, ", "),
                                          did_you_mean(respelt(suffix), names)));
}

std::string format_quantity(double value, Dimension dimension) {
  const std::span<const Unit> units = units_of(dimension).units;
  std::string shortest;
  for (const Unit& unit : units) {
    if (dimension == Dimension::duration && unit.factor > 1) continue;
    const double number =
        unit.factor < 1 ? value * std::round(1 / unit.factor) : value / unit.factor;
    if (std::fabs(number) < 1 && value != 0) continue;
    std::string text = fmt::format("{}{}", number, unit.name);
    if (parse_quantity(text, dimension) != value) continue;
    if (shortest.empty() || text.size() < shortest.size()) shortest = text;
  }
  if (!shortest.empty()) return shortest;
  const Unit& base = dimension == Dimension::duration ? kDuration[2] : units.back();
  return fmt::format("{}{}", value, base.name);
}

}  // namespace trigram
