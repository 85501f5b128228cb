#include "experiments/tune/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trigram {
namespace {

double middle_of_cell(std::size_t index, std::size_t count) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

std::size_t cell_at(double coordinate, std::size_t count) {
  const auto cell = static_cast<std::ptrdiff_t>(coordinate * static_cast<double>(count));
  return static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(cell, 0, static_cast<std::ptrdiff_t>(count) - 1));
}

/// A value in which integers and reals of equal size are equal, as in 1 and 1.0.
bool is_same_value(const Json& a, const Json& b) { return a == b; }

}  // namespace

Json SearchDimension::value_at(double coordinate) const {
  if (kind != Kind::real) return values[cell_at(coordinate, values.size())];
  if (!logarithmic) return std::clamp(low + coordinate * (high - low), low, high);
  return std::clamp(low * std::pow(high / low, coordinate), low, high);
}

double SearchDimension::snapped(double coordinate) const {
  if (kind == Kind::real) return std::clamp(coordinate, 0.0, 1.0);
  return middle_of_cell(cell_at(coordinate, values.size()), values.size());
}

double SearchDimension::coordinate_of(const Json& value, const std::string& reported_at) const {
  if (kind != Kind::real) {
    const auto found = std::ranges::find_if(
        values, [&value](const Json& other) { return is_same_value(value, other); });
    if (found == values.end())
      wrong_type(reported_at,
                 fmt::format("a value of the space, from {} to {}", quoted(values.front()),
                             quoted(values.back())),
                 value);
    return middle_of_cell(static_cast<std::size_t>(found - values.begin()), values.size());
  }
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= low && number <= high))
    wrong_type(reported_at, fmt::format("a number from {} to {}", low, high), value);
  if (low == high) return 0.5;
  return logarithmic ? std::log(number / low) / std::log(high / low)
                     : (number - low) / (high - low);
}

Json SearchSpace::point_at(const Position& position) const {
  Json point = Json::object();
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    point[dimensions[i].pointer] = dimensions[i].value_at(position[i]);
  return point;
}

Position SearchSpace::snapped(const Position& position) const {
  Position result(position.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    result[i] = dimensions[i].snapped(position[i]);
  return result;
}

Position SearchSpace::position_of(const Json& point, const std::string& reported_at) const {
  if (!point.is_object() || point.size() != dimensions.size())
    wrong_type(
        reported_at,
        fmt::format("a point, {{\"/json/pointer\": value}}, with {} values", dimensions.size()),
        point);
  Position position;
  for (const SearchDimension& dimension : dimensions) {
    const std::string at = child(reported_at, dimension.pointer);
    if (!point.contains(dimension.pointer))
      throw ConfigError(reported_at, fmt::format("expected a value of {}", dimension.pointer));
    position.push_back(dimension.coordinate_of(point[dimension.pointer], at));
  }
  return position;
}

std::optional<std::size_t> SearchSpace::size() const {
  std::size_t points = 1;
  for (const SearchDimension& dimension : dimensions) {
    if (dimension.kind == SearchDimension::Kind::real) return std::nullopt;
    points *= dimension.values.size();
    if (points > std::size_t{1} << 53) return std::nullopt;
  }
  return points;
}

std::vector<Position> SearchSpace::grid(std::size_t most) const {
  std::vector<std::size_t> levels(dimensions.size(), 1);
  std::size_t points = 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::size_t larger = points / levels[i] * (levels[i] + 1);
      const SearchDimension& dimension = dimensions[i];
      const bool has_level =
          dimension.kind == SearchDimension::Kind::real || levels[i] < dimension.values.size();
      if (!has_level || larger > most) continue;
      ++levels[i];
      points = larger;
      grows = true;
    }
  }
  std::vector<Position> grid;
  for (std::size_t index = 0; index < points; ++index) {
    Position position(levels.size());
    std::size_t rest = index;
    for (std::size_t i = levels.size(); i-- > 0; rest /= levels[i])
      position[i] = middle_of_cell(rest % levels[i], levels[i]);
    grid.push_back(snapped(position));
  }
  return grid;
}

}  // namespace trigram
