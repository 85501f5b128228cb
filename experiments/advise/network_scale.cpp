#include "experiments/advise/network_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace trigram {
namespace {

std::optional<double> quantity_of(const Json& value, Dimension dimension) {
  if (!value.is_string()) return std::nullopt;
  try {
    return parse_quantity(value.get<std::string>(), dimension);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

/// Calls visit(item) for each item of a list and of an object, except for the object's name, which
/// may look like a quantity.
template <class J, class Visit>
void for_each_item(J& value, const Visit& visit) {
  if (!value.is_structured()) return;
  for (auto& [key, item] : value.items())
    if (value.is_array() || key != "name") visit(item);
}

/// All quantities of the given dimension in a text, a list or an object; empty if there are none.
std::vector<double> quantities_in(const Json& value, Dimension dimension) {
  if (const auto quantity = quantity_of(value, dimension)) return {*quantity};
  std::vector<double> all;
  for_each_item(value, [&](const Json& item) {
    for (const double quantity : quantities_in(item, dimension)) all.push_back(quantity);
  });
  return all;
}

/// Rounds to six significant digits, which removes the rounding errors of a multiplication by a
/// factor.
double to_six_digits(double value) { return std::stod(fmt::format("{:.6g}", value)); }

struct Unit {
  double size;
  const char* name;
};

/// The largest unit in which the number is at least 1. Bandwidths are in bits per second.
Unit unit_of(double number, Dimension dimension) {
  static const std::vector<Unit> bandwidths = {{1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"}};
  static const std::vector<Unit> durations = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  const std::vector<Unit>& units = dimension == Dimension::bandwidth ? bandwidths : durations;
  constexpr double kRounding = 1 - 1e-9;
  for (const Unit& unit : units)
    if (number >= unit.size * kRounding) return unit;
  return units.back();
}

double in_bits(double value, Dimension dimension) {
  return dimension == Dimension::bandwidth ? 8 * value : value;
}

/// A quantity as the text of a setting, with six significant digits. Bandwidths are in bits per
/// second, as in all output of `advise`.
std::string setting_text(double value, Dimension dimension) {
  if (dimension != Dimension::bandwidth) return format_quantity(to_six_digits(value), dimension);
  const double number = in_bits(value, dimension);
  const Unit unit = unit_of(number, dimension);
  return fmt::format("{}{}", to_six_digits(number / unit.size), unit.name);
}

}  // namespace

bool has_one_node(const Json& cluster) { return cluster.at("nodes") == 1; }

NetworkScale::NetworkScale(const Json& cluster, Dimension dimension) : dimension_(dimension) {
  if (has_one_node(cluster)) add_fabric_parts(cluster.at("intra"));
  else add_network_parts(cluster);
  all_zero_ = std::ranges::all_of(parts_, [dimension](const Part& part) {
    return std::ranges::all_of(quantities_in(part.value, dimension),
                               [](double quantity) { return quantity == 0; });
  });
}

void NetworkScale::add_fabric_parts(const Json& intra) {
  const bool is_bandwidth = dimension_ == Dimension::bandwidth;
  for (const char* key : {is_bandwidth ? "bandwidth" : "latency", "bridge_bandwidth"})
    if (quantity_of(intra.value(key, Json()), dimension_))
      parts_.push_back({child("/cluster/intra", key), intra.at(key)});
}

void NetworkScale::add_network_parts(const Json& cluster) {
  const Json& inter = cluster.at("inter");
  const char* key = dimension_ == Dimension::bandwidth ? "bandwidth" : "latency";
  parts_.push_back({child("/cluster/inter", key), inter.at(key)});
  if (dimension_ == Dimension::bandwidth && inter.contains("shaping")) {
    parts_.push_back({"/cluster/inter/shaping/rate", inter.at("shaping").at("rate")});
    const auto nic = quantity_of(parts_[0].value, dimension_);
    nic_ = quantity_of(parts_[1].value, dimension_) < nic ? 1 : 0;
  }
  const Json topology = cluster.value("topology", Json());
  if (topology.is_object())
    for (const auto& [option, value] : topology.items())
      if (!quantities_in(value, dimension_).empty())
        parts_.push_back({child("/cluster/topology", option), value});
}

NetworkScale::NetworkScale(std::string pointer, double seconds)
    : dimension_(Dimension::duration),
      parts_{{std::move(pointer), format_quantity(seconds, Dimension::duration)}} {}

Json NetworkScale::scaled(const Json& value, double factor) const {
  if (factor == 1) return value;
  if (const auto quantity = quantity_of(value, dimension_))
    return setting_text(*quantity * factor, dimension_);
  Json all = value;
  for_each_item(all, [&](Json& item) { item = scaled(item, factor); });
  return all;
}

Json NetworkScale::settings(double factor) const {
  Json settings = Json::object();
  for (const Part& part : parts_) settings[part.pointer] = scaled(part.value, factor);
  if (all_zero_) settings[parts_[0].pointer] = format_quantity(value(factor), dimension_);
  return settings;
}

double NetworkScale::value(double factor) const {
  if (all_zero_) return to_six_digits(factor * 1e-6);
  return *quantity_of(parts_[nic_].value, dimension_) * factor;
}

std::string NetworkScale::text(double factor) const {
  double least = INFINITY, largest = 0;
  for (const Part& part : parts_) {
    if (!part.pointer.starts_with("/cluster/topology")) continue;
    for (const double quantity : quantities_in(part.value, dimension_)) {
      least = std::min(least, quantity * factor);
      largest = std::max(largest, quantity * factor);
    }
  }
  const std::string nics = readable(value(factor), dimension_);
  if (largest == 0) return nics;
  const std::string from = readable(least, dimension_), to = readable(largest, dimension_);
  return fmt::format("{} at NICs, {} beyond", nics, from == to ? to : from + " to " + to);
}

std::string readable(double value, Dimension dimension) {
  const double number = in_bits(value, dimension);
  const Unit unit = unit_of(number, dimension);
  return fmt::format("{:.3g} {}", number / unit.size, unit.name);
}

}  // namespace trigram
