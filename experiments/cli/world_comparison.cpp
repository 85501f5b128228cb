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

constexpr double kDiffers = 0.1;

double value_of(const Json& manifest, const char* key) {
  const Json& value = manifest["summary"][key];
  return value.is_number() ? value.get<double>() : 0;
}

double step_s(const Json& manifest) { return value_of(manifest, "step_s"); }

double megabytes(const Json& manifest) {
  return 1e-6 * (value_of(manifest, "bytes_intra") + value_of(manifest, "bytes_inter"));
}

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

std::string name_of(const Json& manifest) {
  const Json coordinates = coordinates_of(manifest, true);
  return coordinates.empty() ? algorithm_label(manifest) : describe(coordinates);
}

/// The pointers of all swept settings, in alphabetical order.
std::set<std::string> settings_of(const std::vector<WorldPair>& pairs) {
  std::set<std::string> pointers;
  for (const WorldPair& pair : pairs) {
    const Json coordinates = coordinates_of(pair.predicted, true);
    for (const auto& [pointer, value] : coordinates.items())
      if (pointer != "/algorithm") pointers.insert(pointer);
  }
  return pointers;
}

Json options_of(const Json& manifest) {
  return component_options(manifest["experiment"]["runtime"]);
}

/// A column for an option of a world, if its value differs between runs of the table.
struct Variant {
  Json WorldPair::*side;
  std::string option;
  std::string value(const WorldPair& pair) const {
    const Json options = options_of(pair.*side);
    return options.contains(option) ? label_of(options[option]) : "-";
  }
};

std::vector<Variant> variants_of(const std::vector<WorldPair>& pairs) {
  std::vector<Variant> variants;
  for (Json WorldPair::*side : {&WorldPair::predicted, &WorldPair::measured}) {
    std::map<std::string, std::set<Json>> values;
    for (const WorldPair& pair : pairs) {
      const Json options = options_of(pair.*side);
      for (const auto& [option, value] : options.items()) values[option].insert(value);
    }
    for (const auto& [option, different] : values)
      if (different.size() > 1) variants.push_back({side, option});
  }
  return variants;
}

using Lines = std::vector<std::vector<std::string>>;

Lines table(const std::vector<WorldPair>& pairs) {
  const auto predicted = pairs[0].predicted["world"].get<std::string>();
  const auto measured = pairs[0].measured["world"].get<std::string>();
  Lines lines(1);
  const std::set<std::string> pointers = settings_of(pairs);
  const std::vector<Variant> variants = variants_of(pairs);
  for (const std::string& p : pointers) lines[0].push_back(p.substr(p.rfind('/') + 1));
  for (const Variant& v : variants)
    lines[0].push_back(
        fmt::format("{}: {}", (pairs[0].*v.side)["world"].get<std::string>(), v.option));
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
    for (const Variant& v : variants) line.push_back(v.value(pair));
    line.push_back(algorithm_label(p));
    const auto compare = [&line](double from, double with, double scale) {
      line.push_back(fmt::format("{:.2f}", scale * from));
      line.push_back(fmt::format("{:.2f}", scale * with));
      line.push_back(ratio(with, from));
    };
    compare(step_s(p), step_s(m), 1e3);
    compare(value_of(p, "exposed_s"), value_of(m, "exposed_s"), 1e3);
    compare(megabytes(p), megabytes(m), 1);
  }
  return lines;
}

std::string errors(const std::vector<WorldPair>& pairs) {
  std::vector<const WorldPair*> by_error;
  for (const WorldPair& pair : pairs)
    if (step_s(pair.predicted) > 0) by_error.push_back(&pair);
  if (by_error.empty()) return "";
  std::sort(by_error.begin(), by_error.end(), [](const WorldPair* a, const WorldPair* b) {
    return std::abs(error_of(*a)) < std::abs(error_of(*b));
  });
  const std::size_t half = by_error.size() / 2;
  const double upper = std::abs(error_of(*by_error[half]));
  const double median =
      by_error.size() % 2 == 1 ? upper : (upper + std::abs(error_of(*by_error[half - 1]))) / 2;
  const WorldPair& worst = *by_error.back();
  return fmt::format("step time: median error {:.1f} %, greatest {:+.1f} % ({})\n", 100 * median,
                     100 * error_of(worst), name_of(worst.predicted));
}

/// Compares the order of every two algorithms that share a setting.
std::string orders(const std::vector<WorldPair>& pairs) {
  int differing = 0, agreeing = 0;
  std::string swapped;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t k = i + 1; k < pairs.size(); ++k) {
      const auto& [p, m] = pairs[i];
      const auto& [q, n] = pairs[k];
      if (coordinates_of(p, false) != coordinates_of(q, false) || options_of(p) != options_of(q) ||
          options_of(m) != options_of(n))
        continue;
      const double a = step_s(p), b = step_s(q);
      if (std::abs(a - b) <= kDiffers * std::min(a, b)) continue;
      ++differing;
      if ((a < b) == (step_s(m) < step_s(n))) ++agreeing;
      else swapped += fmt::format("  swapped: {} and {}\n", name_of(p), name_of(q));
    }
  if (differing == 0) return "";
  return fmt::format("order: {} of {} pairs that differ by more than {:.0f} % agree\n{}", agreeing,
                     differing, 100 * kDiffers, swapped);
}

/// Says how many runs were measured on a network that deviates from its description.
std::string warnings(const std::vector<WorldPair>& pairs) {
  const auto off = std::count_if(pairs.begin(), pairs.end(), [](const WorldPair& pair) {
    const Json links = pair.measured.value("links", Json());
    return links.is_array() && std::any_of(links.begin(), links.end(), [](const Json& link) {
             return link.value("warning", false);
           });
  });
  if (off == 0) return "";
  return fmt::format("links: {} of {} runs were measured on a network more than 5 % off\n", off,
                     pairs.size());
}

std::vector<Json> measured(const std::vector<WorldPair>& pairs) {
  std::vector<Json> manifests;
  for (const WorldPair& pair : pairs) manifests.push_back(pair.measured);
  return manifests;
}

/// True if both runs are of the same experiment, and if all options that both sweeps set have equal
/// values.
bool alike(const Json& predicted, const Json& measured) {
  for (const auto& [pointer, value] : predicted["sweep"].items())
    if (pointer.starts_with("/runtime/") && measured["sweep"].contains(pointer) &&
        measured["sweep"][pointer] != value)
      return false;
  return experiment_key(predicted) == experiment_key(measured);
}

}  // namespace

std::string experiment_key(const Json& manifest) {
  Json experiment = manifest["experiment"];
  for (const char* other : {"runtime", "name", "description", "timeline"}) experiment.erase(other);
  return experiment.dump();
}

std::vector<WorldPair> pair_up(const std::vector<Json>& predicted,
                               const std::vector<Json>& measured) {
  std::vector<WorldPair> pairs;
  for (const Json& p : predicted)
    for (const Json& m : measured)
      if (alike(p, m)) pairs.push_back({p, m});
  return pairs;
}

std::string world_comparison(const std::vector<WorldPair>& pairs) {
  if (pairs.empty()) return "";
  const Lines lines = table(pairs);
  const auto algorithm = std::find(lines[0].begin(), lines[0].end(), "algorithm");
  return aligned(lines, static_cast<std::size_t>(algorithm - lines[0].begin()) + 1) +
         errors(pairs) + orders(pairs) + warnings(pairs) + caveats(measured(pairs));
}

}  // namespace trigram
