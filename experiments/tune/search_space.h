#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A point of a search space as the optimisers see it: a coordinate in [0, 1] for each dimension.
using Position = std::vector<double>;

/// A dimension of a search space: the values that one option of an experiment may take. A finite
/// dimension divides [0, 1] into cells of equal size, one for each value.
struct SearchDimension {
  enum class Kind {
    ordered,      // finite; neighbours are alike: integers and powers of two
    categorical,  // finite; any two values are equally unlike
    real
  };
  std::string pointer;  // the JSON pointer of the option
  Kind kind = Kind::real;
  std::vector<Json> values;  // of a finite dimension
  double low = 0, high = 1;  // of a real dimension
  bool logarithmic = false;  // a real dimension whose logarithm has an even scale

  Json value_at(double coordinate) const;
  /// The coordinate that stands for all coordinates with the same value: the middle of the cell.
  double snapped(double coordinate) const;
  /// The coordinate of a value. Throws ConfigError at `reported_at` if the dimension lacks it.
  double coordinate_of(const Json& value, const std::string& reported_at) const;
};

/// The options that are searched, with their values.
struct SearchSpace {
  std::vector<SearchDimension> dimensions;  // in the order of their pointers
  Json definition;                          // as in the configuration

  /// The values at a position, {"/json/pointer": value}.
  Json point_at(const Position& position) const;
  /// The position that stands for all positions with the same point.
  Position snapped(const Position& position) const;
  /// The position of a point. Throws ConfigError below `reported_at`.
  Position position_of(const Json& point, const std::string& reported_at) const;
  /// The number of points; empty if a dimension is real, or if there are more than 2^53.
  std::optional<std::size_t> size() const;
  /// A regular grid of at most `most` points, which has about as many levels in each dimension, but
  /// not more than the dimension has values. The last dimension varies fastest. It has all points
  /// of the space if these are not more than `most`.
  std::vector<Position> grid(std::size_t most) const;
};

/// {"/json/pointer": {"powers_of_two": ["64KiB", "256MiB"]}, ...}: each dimension is given by
/// `values`, `integer`, `powers_of_two` or `real`.
OptionType<SearchSpace> search_space();

}  // namespace trigram
