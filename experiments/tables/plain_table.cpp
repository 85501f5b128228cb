#include "experiments/tables/plain_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/results/manifest.h"
#include "experiments/tables/caveats.h"
#include "experiments/text/labels.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

struct Column {
  std::string title;
  std::string key;  // in the summary: "step_s" or, in an object within it, "cost/usd_per_step"
  double scale = 1;
};

Json value_of(const Json& manifest, const std::string& key) {
  return manifest["summary"].value(Json::json_pointer("/" + key), Json());
}

bool has_number(const Json& manifest, const std::string& key) {
  return value_of(manifest, key).is_number();
}

/// True if a step in a hundred takes clearly longer than the median step.
bool has_tail(const Json& manifest) {
  return has_number(manifest, "step_p50_s") && has_number(manifest, "step_p99_s") &&
         value_of(manifest, "step_p99_s").get<double>() >
             1.02 * value_of(manifest, "step_p50_s").get<double>();
}

/// True if the quality of the runs' models is their loss on held-out data, because no run has an
/// accuracy, or a run has a loss as its target.
bool are_judged_by_loss(const std::vector<Json>& manifests) {
  return std::ranges::any_of(
             manifests,
             [](const Json& m) { return m["summary"].value("target", Json()).contains("loss"); }) ||
         std::ranges::none_of(manifests, [](const Json& m) { return has_number(m, "accuracy"); });
}

/// The columns with a value in some run. Titles and units are the same as in the comparison
/// (analysis/trigram_analysis/table.py).
std::vector<Column> columns_of(const std::vector<Json>& manifests) {
  double longest_s = 0;
  for (const Json& m : manifests)
    if (const Json step_s = m["summary"].value("step_s", Json()); step_s.is_number())
      longest_s = std::max(longest_s, step_s.get<double>());
  const auto [unit, scale] = longest_s >= 1      ? std::pair{"s", 1.0}
                             : longest_s >= 1e-3 ? std::pair{"ms", 1e3}
                                                 : std::pair{"µs", 1e6};
  std::vector<Column> all = {{fmt::format("step ({})", unit), "step_s", scale},
                             {fmt::format("exposed ({})", unit), "exposed_s", scale},
                             {"samples/s", "samples_per_s"},
                             {"cost/step (m$)", "cost/usd_per_step", 1e3},
                             {"energy/step (Wh)", "cost/kwh_per_step", 1e3},
                             {"stale", "staleness_mean"},
                             {"loss", "loss"},
                             {"accuracy (%)", "accuracy", 100}};
  if (std::ranges::any_of(manifests, has_tail))
    all.insert(all.begin() + 1, Column{fmt::format("p99 ({})", unit), "step_p99_s", scale});
  if (are_judged_by_loss(manifests)) all.push_back({"held-out loss", "eval_loss"});
  std::vector<Column> shown;
  std::ranges::copy_if(all, std::back_inserter(shown), [&manifests](const Column& c) {
    return std::ranges::any_of(manifests, [&c](const Json& m) { return has_number(m, c.key); });
  });
  return shown;
}

/// Three significant digits, but at most three decimal places.
std::string number_text(double value) {
  const double size = std::abs(value);
  const int whole = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 2;
  return fmt::format("{:.{}f}", value, std::clamp(2 - whole, 0, 3));
}

std::string cell(const Json& manifest, const Column& column) {
  const Json value = value_of(manifest, column.key);
  return value.is_number() ? number_text(value.get<double>() * column.scale) : "-";
}

std::string kind_of_time(const Json& manifest) {
  if (manifest.value("time_kind", "simulated") != "wall") return "simulated";
  return manifest.value("oversubscribed", false) ? "wall clock, more ranks than cores"
                                                 : "wall clock";
}

}  // namespace

std::string plain_table(const std::vector<Json>& manifests) {
  const std::vector<Column> columns = columns_of(manifests);
  std::vector<std::vector<std::string>> lines = {{"run", "algorithm", "times"}};
  for (const Column& c : columns) lines[0].push_back(c.title);
  std::string notes;
  for (const Json& m : manifests) {
    const std::string run = describe(m["sweep"]);
    lines.push_back({run, algorithm_label(m), kind_of_time(m)});
    for (const Column& c : columns) lines.back().push_back(cell(m, c));
    if (const std::string why = why_not_compared(m); !why.empty())
      notes += fmt::format("too short to compare: {}: it {}\n", run, why);
    if (const Json over = m["summary"].value(Json::json_pointer("/rates/over"), Json());
        over.is_string())
      notes += fmt::format("means over {}: {}\n", over.get<std::string>(), run);
    if (m["summary"].value("paces", Json()).is_object())
      notes += fmt::format("samples/s add up workers that do not wait for each other: {}\n", run);
  }
  return aligned(lines, 3) + notes + caveats(manifests);
}

}  // namespace trigram
