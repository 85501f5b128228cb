#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trigram {

/// Physical dimension of a quantity and the base unit in which the program holds it.
enum class Dimension {
  duration,   // seconds
  bandwidth,  // bytes per second
  bytes,      // bytes
  flop_rate,  // floating-point operations per second
};

/// Parses "25Gbps", "50 us", "10MiB", "15.7TFLOP/s" into the base unit. Gbps = 1e9 bit/s, MB = 1e6
/// bytes, MiB = 2^20. Throws std::invalid_argument, whose message says what was expected, for a
/// missing or unknown unit, for a unit of another dimension, and for anything that is not a finite
/// number.
double parse_quantity(std::string_view text, Dimension dimension);

/// The shortest text that parses back to exactly `value`.
std::string format_quantity(double value, Dimension dimension);

/// The units of a dimension, largest first within each family, e.g. {"Tbps", "Gbps", ...}.
std::vector<std::string> unit_names(Dimension dimension);

}  // namespace trigram
