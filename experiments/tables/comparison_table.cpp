#include "experiments/tables/comparison_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/printable.h"
#include "experiments/results/exchanges.h"
#include "experiments/results/reached.h"
#include "experiments/tables/caveats.h"
#include "experiments/tables/paces.h"
#include "experiments/tables/targets.h"
#include "experiments/text/labels.h"
#include "experiments/text/options_label.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

/// Runs that differ only in these are repetitions. axes.py uses the same list for reports.
constexpr const char* kSeeds[] = {"/seed", "/cluster/jitter_seed"};

/// Runs that differ only in seeds.
struct Row {
  Json coordinates;  // without seeds
  std::string algorithm;
  std::vector<Json> summaries;
  std::string incomparable;  // why it cannot win; empty if it can
  bool wins = false;
  bool oversubscribed = false;  // more ranks than cores
};

struct Column {
  const char* title;
  const char* key;  // pointer in the summary
  double scale;
  const char* format;
  // Pointer to the begin of the interval that ends with the value, if any.
  const char* from = nullptr;
};
constexpr Column kColumns[] = {
    {"step [ms]", "step_s", 1e3, "{:.2f}"},
    {"exposed [ms]", "exposed_s", 1e3, "{:.2f}"},
    {"samples/s", "samples_per_s", 1, "{:.0f}"},
    {"staleness", "staleness_mean", 1, "{:.1f}"},
    {"loss", "loss", 1, "{:.3f}"},
    {"accuracy [%]", "accuracy", 100, "{:.2f}"},
    {"worst worker [%]", "worker_accuracy_min", 100, "{:.2f}"},
    {"consensus", "consensus_distance", 1, "{:.2g}"},
    {"epochs to target", "target/epochs", 1, "{:.2f}"},
    {"time to target [s]", "target/time_s", 1, "{:.2f}", "target/after_s"}};

struct Statistics {
  double mean = std::numeric_limits<double>::quiet_NaN(), spread = 0;
  int count = 0;
};

Json::json_pointer pointer_to(const char* key) {
  return Json::json_pointer(std::string("/") + key);
}

/// Mean and sample standard deviation of a value. Empty unless all runs have it.
Statistics statistics(const Row& row, const char* key) {
  std::vector<double> values;
  for (const Json& s : row.summaries)
    if (s.contains(pointer_to(key)) && s[pointer_to(key)].is_number())
      values.push_back(s[pointer_to(key)].get<double>());
  if (values.empty() || values.size() < row.summaries.size()) return {};
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  const auto n = static_cast<double>(values.size());
  for (double v : values) squares += (v - sum / n) * (v - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1)) : 0, static_cast<int>(n)};
}

std::vector<Row> rows_of(const std::vector<Json>& manifests) {
  std::vector<Row> rows;
  for (const Json& m : manifests) {
    Json coordinates = m["sweep"];
    for (const char* seed : kSeeds) coordinates.erase(seed);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& r) { return r.coordinates == coordinates; });
    if (row == rows.end()) {
      rows.push_back({coordinates, algorithm_label(m), {}, {}});
      row = rows.end() - 1;
    }
    if (row->incomparable.empty()) row->incomparable = missing_exchanges(m);
    row->oversubscribed = row->oversubscribed || m.value("oversubscribed", false);
    row->summaries.push_back(m["summary"]);
  }
  return rows;
}

/// The row's coordinates without the algorithm and its options.
std::string setting_of(const Row& row) {
  Json setting = row.coordinates;
  for (const auto& [pointer, value] : row.coordinates.items())
    if (pointer.starts_with("/algorithm")) setting.erase(pointer);
  return setting.dump();
}

/// Groups rows by setting, in the order in which settings first appear, and marks winners.
void arrange(std::vector<Row>& rows) {
  std::map<std::string, std::size_t> first;
  for (const Row& row : rows) first.try_emplace(setting_of(row), first.size());
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return first[setting_of(a)] < first[setting_of(b)];
  });
  std::map<std::string, std::vector<Row*>> groups;
  for (Row& row : rows) groups[setting_of(row)].push_back(&row);
  for (auto& [setting, group] : groups) {
    const bool alone = group.size() == 1;
    std::erase_if(group, [](const Row* row) {
      return !row->incomparable.empty() || statistics(*row, "step_s").count == 0;
    });
    if (alone || group.empty()) continue;
    const auto best = std::min_element(group.begin(), group.end(), [](Row* a, Row* b) {
      return statistics(*a, "step_s").mean < statistics(*b, "step_s").mean;
    });
    (*best)->wins = true;
  }
}

/// Adds options to the names of algorithms that would otherwise look the same.
void name_options(std::vector<Row>& rows) {
  std::map<std::string, int> uses;
  const auto key = [](const Row& row) {
    Json others = row.coordinates;
    others.erase("/algorithm");
    return row.algorithm + others.dump();
  };
  for (const Row& row : rows) ++uses[key(row)];
  for (Row& row : rows) {
    if (uses[key(row)] == 1) continue;
    const std::string options = options_label(row.coordinates.value("/algorithm", Json()));
    if (!options.empty()) row.algorithm += " " + options;
  }
}

/// The interval that contains the value of a column; empty if the value is known exactly.
std::optional<Reached> interval(const Row& row, const Column& column) {
  if (!column.from || statistics(row, column.from).count == 0) return std::nullopt;
  return Reached{statistics(row, column.from).mean, statistics(row, column.key).mean};
}

bool is_coarse(const Row& row, const Column& column) {
  const auto within = interval(row, column);
  return within && within->coarse();
}

/// The paces of the slowest and the fastest worker; empty if no run reports uneven paces.
std::string paces(const Row& row) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double slowest = kNone, fastest = 0;
  for (const Json& s : row.summaries) {
    const Json paces = s.value("paces", Json());
    if (!paces.is_object()) continue;
    slowest = std::min(slowest, paces.at("slowest").at("samples_per_s").get<double>());
    fastest = std::max(fastest, paces.at("fastest").at("samples_per_s").get<double>());
  }
  return slowest == kNone ? "" : paces_text(slowest, fastest);
}

bool of_target(const Column& column) { return std::string_view(column.key).starts_with("target/"); }

std::string cell(const Row& row, const Column& column) {
  const Statistics s = statistics(row, column.key);
  const auto show = [&column](double value) {
    return fmt::format(fmt::runtime(column.format), value * column.scale);
  };
  if (s.count == 0) {
    const std::string some =
        of_target(column) ? reached_by_some(row.summaries, column.key, column.from, show) : "";
    return some.empty() ? "-" : some;
  }
  const auto within = interval(row, column);
  std::string text = within ? within->text() : show(s.mean);
  if (s.count > 1) text += " ± " + show(s.spread);
  if (column.key == std::string("samples_per_s")) text += paces(row);
  if (row.wins && column.key == std::string("step_s")) text += " *";
  if (!row.incomparable.empty() && column.key == std::string("step_s")) text += " !";
  return text;
}

/// True if a run has the value. Also true for a target that no run reaches.
bool applies(const Column& column, const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return statistics(row, column.key).count > 0 ||
           (of_target(column) && row.summaries.front().contains(pointer_to(column.key)));
  });
}

/// Lines that say which steps the means cover, if not all, and how to read uneven paces.
std::string parts_of_runs(const std::vector<Row>& rows) {
  std::map<std::string, std::set<std::string>> over;  // steps -> algorithms
  bool uneven = false;
  for (const Row& row : rows) {
    uneven = uneven || !paces(row).empty();
    for (const Json& s : row.summaries)
      if (const Json steps_covered = s.value(Json::json_pointer("/rates/over"), Json());
          steps_covered.is_string())
        over[steps_covered].insert(row.algorithm);
  }
  std::string text = uneven
                         ? "(a to b): samples/s of the slowest and of the fastest worker, who do "
                           "not wait for each other; the sum is of all\n"
                         : "";
  for (const auto& [steps, names] : over)
    text += fmt::format("means over {}: {}\n", steps, fmt::join(names, ", "));
  return text;
}

/// The label of each row for a swept pointer. Values with equal names are shown with their options.
std::vector<std::string> labels_at(const std::string& pointer, const std::vector<Row>& rows) {
  std::map<std::string, std::set<Json>> alike;
  for (const Row& row : rows)
    if (const Json value = row.coordinates.value(pointer, Json()); !value.is_null())
      alike[label_of(value)].insert(value);
  std::vector<std::string> labels;
  for (const Row& row : rows) {
    const Json value = row.coordinates.value(pointer, Json());
    labels.push_back(value.is_null() ? "-" : label_of(value));
    if (alike[labels.back()].size() < 2) continue;
    if (value.is_string()) labels.back() = printable(value.get<std::string>());
    if (const std::string options = options_label(value); !options.empty())
      labels.back() += " " + options;
  }
  return labels;
}

using Lines = std::vector<std::vector<std::string>>;

Lines cells_of(const std::vector<Row>& rows) {
  std::vector<std::string> pointers;
  for (const auto& [pointer, value] : rows.front().coordinates.items())
    if (pointer != "/algorithm" && pointer != "/algorithm/name" && pointer != "/algorithm/mode")
      pointers.push_back(pointer);
  Lines lines(1);
  for (const std::string& p : pointers) lines[0].push_back(p.substr(p.rfind('/') + 1));
  lines[0].push_back("algorithm");
  std::vector<const Column*> shown;
  for (const Column& c : kColumns)
    if (applies(c, rows)) {
      shown.push_back(&c);
      lines[0].push_back(c.title);
    }
  lines.resize(rows.size() + 1);
  for (const std::string& p : pointers) {
    const std::vector<std::string> labels = labels_at(p, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) lines[i + 1].push_back(labels[i]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lines[i + 1].push_back(rows[i].algorithm + (rows[i].oversubscribed ? " †" : ""));
    for (const Column* c : shown) lines[i + 1].push_back(cell(rows[i], *c));
  }
  return lines;
}

}  // namespace

std::string comparison_table(const std::vector<Json>& manifests) {
  if (manifests.empty()) return "";
  std::vector<Row> rows = rows_of(manifests);
  arrange(rows);
  name_options(rows);
  const Lines lines = cells_of(rows);
  const auto algorithm = std::find(lines[0].begin(), lines[0].end(), "algorithm");
  const bool marked = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.wins; });
  const bool coarse = std::any_of(rows.begin(), rows.end(), [](const Row& r) {
    return std::any_of(std::begin(kColumns), std::end(kColumns),
                       [&r](const Column& column) { return is_coarse(r, column); });
  });
  std::string text = aligned(lines, static_cast<std::size_t>(algorithm - lines[0].begin()) + 1) +
                     (marked ? "* shortest step at this setting\n" : "") +
                     (coarse ? kCoarseLegend : "");
  std::set<std::string> notes;
  for (const Row& row : rows) {
    notes.insert(target_legend(row.summaries));
    if (!row.incomparable.empty())
      notes.insert(fmt::format("! {} is not compared: it {}\n", row.algorithm, row.incomparable));
  }
  for (const std::string& note : notes) text += note;
  if (std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.oversubscribed; }))
    text += "† more ranks than cores: its times say little about a real cluster\n";
  return text + parts_of_runs(rows) + kinds_of_time(manifests) + caveats(manifests);
}

}  // namespace trigram
