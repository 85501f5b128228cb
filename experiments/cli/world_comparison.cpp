#include "experiments/cli/world_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/config/component.h"
#include "experiments/tables/caveats.h"
#include "experiments/text/labels.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

/// Two algorithms are compared only if their predicted step times differ by more than this
/// fraction.
constexpr double kDiffers = 0.1;

double summary_value(const Json& manifest, const char* key) {
  const Json value = manifest["summary"].value(key, Json());
  return value.is_number() ? value.get<double>() : 0;
}

double step_s(const Json& manifest) { return summary_value(manifest, "step_s"); }

double megabytes(const Json& manifest) {
  return 1e-6 * (summary_value(manifest, "bytes_intra") + summary_value(manifest, "bytes_inter"));
}

/// The relative error of the predicted step time.
double error_of(const WorldPair& pair) {
  return step_s(pair.measured) / step_s(pair.predicted) - 1;
}

std::string ratio(double measured, double predicted) {
  return predicted > 0 ? fmt::format("{:.3f}", measured / predicted) : "-";
}

/// A run's sweep coordinates without the world. Without `with_algorithm`, also leaves out the
/// algorithm and its options.
Json coordinates_of(const Json& manifest, bool with_algorithm) {
  Json kept = Json::object();
  for (const auto& [pointer, value] : manifest["sweep"].items())
    if (!pointer.starts_with("/runtime") && (with_algorithm || !pointer.starts_with("/algorithm")))
      kept[pointer] = value;
  return kept;
}

std::string run_name(const Json& manifest) {
  const Json coordinates = coordinates_of(manifest, true);
  return coordinates.empty() ? algorithm_label(manifest) : describe(coordinates);
}

/// The pointers of all swept settings, in alphabetical order.
std::set<std::string> swept_pointers(const std::vector<WorldPair>& pairs) {
  std::set<std::string> pointers;
  for (const WorldPair& pair : pairs) {
    const Json coordinates = coordinates_of(pair.predicted, true);
    for (const auto& [pointer, value] : coordinates.items())
      if (pointer != "/algorithm") pointers.insert(pointer);
  }
  return pointers;
}

Json world_options(const Json& manifest) {
  return component_options(manifest["experiment"]["runtime"]);
}

/// A column for an option of one of the two worlds.
struct OptionColumn {
  Json WorldPair::*side;
  std::string option;
  std::string value(const WorldPair& pair) const {
    const Json options = world_options(pair.*side);
    return options.contains(option) ? label_of(options[option]) : "-";
  }
};

/// Columns for the options of worlds that differ between pairs.
std::vector<OptionColumn> option_columns(const std::vector<WorldPair>& pairs) {
  std::vector<OptionColumn> columns;
  for (Json WorldPair::*side : {&WorldPair::predicted, &WorldPair::measured}) {
    std::map<std::string, std::set<Json>> values;
    for (const WorldPair& pair : pairs) {
      const Json options = world_options(pair.*side);
      for (const auto& [option, value] : options.items()) values[option].insert(value);
    }
    for (const auto& [option, different] : values)
      if (different.size() > 1) columns.push_back({side, option});
  }
  return columns;
}

using Lines = std::vector<std::vector<std::string>>;

Lines table(const std::vector<WorldPair>& pairs) {
  const auto predicted = pairs[0].predicted["world"].get<std::string>();
  const auto measured = pairs[0].measured["world"].get<std::string>();
  Lines lines(1);
  const std::set<std::string> pointers = swept_pointers(pairs);
  const std::vector<OptionColumn> columns = option_columns(pairs);
  for (const std::string& p : pointers) lines[0].push_back(p.substr(p.rfind('/') + 1));
  for (const OptionColumn& c : columns)
    lines[0].push_back(
        fmt::format("{}: {}", (pairs[0].*c.side)["world"].get<std::string>(), c.option));
  lines[0].push_back("algorithm");
  for (const char* what : {"step [ms]", "exposed [ms]", "sent [MB]"}) {
    lines[0].push_back(fmt::format("{}: {}", what, predicted));
    lines[0].push_back(measured);
    lines[0].push_back("ratio");
  }
  for (const WorldPair& pair : pairs) {
    const auto& [p, m] = pair;
    auto& line = lines.emplace_back();
    const Json coordinates = coordinates_of(p, true);
    for (const std::string& pointer : pointers)
      line.push_back(coordinates.contains(pointer) ? label_of(coordinates[pointer]) : "-");
    for (const OptionColumn& c : columns) line.push_back(c.value(pair));
    line.push_back(algorithm_label(p));
    const auto add_cells = [&line](double predicted_value, double measured_value, double scale) {
      line.push_back(fmt::format("{:.2f}", scale * predicted_value));
      line.push_back(fmt::format("{:.2f}", scale * measured_value));
      line.push_back(ratio(measured_value, predicted_value));
    };
    add_cells(step_s(p), step_s(m), 1e3);
    add_cells(summary_value(p, "exposed_s"), summary_value(m, "exposed_s"), 1e3);
    add_cells(megabytes(p), megabytes(m), 1);
  }
  return lines;
}

/// The median and the largest error of step times.
std::string error_line(const std::vector<WorldPair>& pairs) {
  std::vector<const WorldPair*> by_error;
  for (const WorldPair& pair : pairs)
    if (step_s(pair.predicted) > 0) by_error.push_back(&pair);
  if (by_error.empty()) return "";
  std::ranges::sort(by_error, {}, [](const WorldPair* p) { return std::abs(error_of(*p)); });
  const std::size_t half = by_error.size() / 2;
  const double upper = std::abs(error_of(*by_error[half]));
  const double median =
      by_error.size() % 2 == 1 ? upper : (upper + std::abs(error_of(*by_error[half - 1]))) / 2;
  const WorldPair& worst = *by_error.back();
  return fmt::format("step time: median error {:.1f} %, greatest {:+.1f} % ({})\n", 100 * median,
                     100 * error_of(worst), run_name(worst.predicted));
}

/// Compares the predicted with the measured order of every two algorithms at the same setting.
std::string order_lines(const std::vector<WorldPair>& pairs) {
  int differing = 0, agreeing = 0;
  std::string swapped;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t k = i + 1; k < pairs.size(); ++k) {
      const auto& [p, m] = pairs[i];
      const auto& [q, n] = pairs[k];
      if (coordinates_of(p, false) != coordinates_of(q, false) ||
          world_options(p) != world_options(q) || world_options(m) != world_options(n))
        continue;
      const double a = step_s(p), b = step_s(q);
      if (std::abs(a - b) <= kDiffers * std::min(a, b)) continue;
      ++differing;
      if ((a < b) == (step_s(m) < step_s(n))) ++agreeing;
      else swapped += fmt::format("  swapped: {} and {}\n", run_name(p), run_name(q));
    }
  if (differing == 0) return "";
  return fmt::format("order: {} of {} pairs that differ by more than {:.0f} % agree\n{}", agreeing,
                     differing, 100 * kDiffers, swapped);
}

/// Says how many runs were measured on a network that deviates from its description.
std::string link_warning(const std::vector<WorldPair>& pairs) {
  const auto off = std::ranges::count_if(pairs, [](const WorldPair& pair) {
    const Json links = pair.measured.value("links", Json());
    return links.is_array() && std::ranges::any_of(links, [](const Json& link) {
             return link.value("warning", false);
           });
  });
  if (off == 0) return "";
  return fmt::format("links: {} of {} runs were measured on a network more than 5 % off\n", off,
                     pairs.size());
}

/// True if both runs are of the same experiment, and if all world options that both sweeps set have
/// equal values.
bool is_pair(const Json& predicted, const Json& measured) {
  for (const auto& [pointer, value] : predicted["sweep"].items())
    if (pointer.starts_with("/runtime/") && measured["sweep"].contains(pointer) &&
        measured["sweep"][pointer] != value)
      return false;
  return experiment_key(predicted) == experiment_key(measured);
}

}  // namespace

std::string experiment_key(const Json& manifest) {
  Json experiment = manifest["experiment"];
  for (const char* key : {"runtime", "name", "description", "timeline"}) experiment.erase(key);
  return experiment.dump();
}

std::vector<WorldPair> pair_up(const std::vector<Json>& predicted,
                               const std::vector<Json>& measured) {
  std::vector<WorldPair> pairs;
  for (const Json& p : predicted)
    for (const Json& m : measured)
      if (is_pair(p, m)) pairs.push_back({p, m});
  return pairs;
}

std::string world_comparison(const std::vector<WorldPair>& pairs) {
  if (pairs.empty()) return "";
  const Lines lines = table(pairs);
  const auto algorithm = std::ranges::find(lines[0], "algorithm");
  std::vector<Json> measured;
  for (const WorldPair& pair : pairs) measured.push_back(pair.measured);
  return aligned(lines, static_cast<std::size_t>(algorithm - lines[0].begin()) + 1) +
         error_line(pairs) + order_lines(pairs) + link_warning(pairs) + caveats(measured);
}

}  // namespace trigram
