#include "experiments/sweep/tuned_sweep.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>

#include "core/printable.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/process/signals.h"
#include "experiments/results/durable.h"
#include "experiments/sweep/launcher.h"
#include "experiments/sweep/objective_value.h"
#include "experiments/sweep/point_mistakes.h"
#include "experiments/text/labels.h"
#include "experiments/text/print_error.h"

namespace trigram {
namespace {

/// The values of a dimension to check before the search: the ends of a range, or all values.
std::vector<Json> checked_values(const SearchDimension& dimension) {
  if (dimension.kind == SearchDimension::Kind::categorical) return dimension.values;
  return {dimension.value_at(0), dimension.value_at(1)};
}

std::string first_line_of(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

}  // namespace

TunedSweep::TunedSweep(std::filesystem::path config, std::vector<std::string> settings,
                       Options options, bool quiet)
    : config_(std::move(config)),
      settings_(std::move(settings)),
      run_options_(std::move(options)),
      quiet_(quiet),
      options_(read_tune_options(config_, settings_)),
      tuner_(options_.tuner()),
      printer_(stderr) {
  if (const auto& target = options_.objective.target)
    settings_.push_back(fmt::format("/{}={}", target->option(), target->level));
  check_space();
  check_example();
  check_writable(folder());
  record_.options = tune_options().dump(options_);
  record_.batch = batch();
}

/// Plans the points with all values at the beginning and at the end of their dimensions, and
/// changes each option to the ends of its range. A value that is a mistake beside both is refused.
/// Other points may be invalid for reasons that depend on several options; they count as failed
/// later.
void TunedSweep::check_space() {
  const std::size_t dimensions = options_.space.dimensions.size();
  std::optional<ConfigError> first_mistake;
  Mistakes mistakes;
  for (const SearchDimension& dimension : options_.space.dimensions)
    for (const Json& value : checked_values(dimension)) {
      std::optional<ConfigError> mistake;
      bool is_wrong = true;
      for (const double end : {0.0, 1.0}) {
        Json point = options_.space.point_at(Position(dimensions, end));
        point[dimension.pointer] = value;
        mistake = mistake_of(point);
        if (mistake && !first_mistake) first_mistake = mistake;
        is_wrong =
            is_wrong && mistake && std::ranges::any_of(mistake->mistakes(), [&](const Mistake& m) {
              return m.pointer == child("/tune/space", dimension.pointer);
            });
      }
      if (is_wrong) mistakes.add(*mistake);
    }
  mistakes.raise();
  if (name_.empty()) throw ConfigError(*first_mistake);  // no point can be planned
}

/// The error that planning a point causes; empty if there is none.
std::optional<ConfigError> TunedSweep::mistake_of(const Json& point) {
  try {
    Plan plan = plan_of(point).plan;
    name_ = plan.name;
    example_ = std::move(plan.runs.front());
    return std::nullopt;
  } catch (const ConfigError& error) {
    return reported_at_tune(error, point, options_.objective);
  }
}

/// Checks what a run of any point shows: that its world can be started, and that it will have the
/// weighted values.
void TunedSweep::check_example() const {
  const Experiment& e = example_->experiment;
  Mistakes mistakes;
  if (e.world().processes && run_options_.launcher.empty() && !in_a_job())
    mistakes.add(ConfigError(
        "/runtime",
        fmt::format("in the world \"{}\" each point is a job of its own, with a process "
                    "for each worker; expected a launcher: trigram tune {} --launcher "
                    "\"mpirun -n {}\"",
                    e.world().name, config_.string(), e.cluster.ranks())));
  if (!varies_experiment())
    mistakes.passes([&] { check_weighted_keys(options_.objective, *example_); });
  try {
    mistakes.raise();
  } catch (const ConfigError& error) {
    throw error.in_file(config_.string());
  }
}

/// True if points may differ in the algorithm or the workload, and so in the keys of their
/// summaries that have values.
bool TunedSweep::varies_experiment() const {
  return std::ranges::any_of(options_.space.dimensions, [](const SearchDimension& dimension) {
    return dimension.pointer == "/algorithm" || dimension.pointer.starts_with("/workload");
  });
}

/// Throws ConfigError if all points of the first batch lack the same weighted key of the summary,
/// because the others would lack it, too.
void TunedSweep::check_first_costs() const {
  if (varies_experiment()) return;
  for (const auto& [key, weight] : options_.objective.weights)
    if (std::ranges::all_of(record_.tried,
                            [&](const TriedPoint& tried) { return tried.why == lacks(key); }))
      throw ConfigError(child("/tune/objective/weights", key),
                        "is null in every run so far; expected a number of their summaries")
          .in_file(config_.string());
}

/// The runs of a point. An option that has no effect with the other values is left out.
TunedSweep::PointPlan TunedSweep::plan_of(Json point) const {
  for (;;) {
    std::vector<std::string> settings = settings_;
    settings.push_back("/zip=" + Json::array({point}).dump());
    try {
      const PlanTarget target{nullptr, run_options_.launcher.empty() && in_a_job()};
      Plan plan = make_plan(config_, settings, target);
      if (plan.runs.front().coordinates.contains("/job"))
        throw ConfigError("/job", "missing; expected the name of the job that is tuned",
                          Mistake::Kind::missing)
            .in_file(config_.string());
      return {std::move(plan), point};
    } catch (const ConfigError& error) {
      if (!leave_out_idle(point, error)) throw;
    }
  }
}

std::size_t TunedSweep::batch() const {
  if (options_.batch > 0) return static_cast<std::size_t>(options_.batch);
  if (const auto earlier = batch_of_record(folder(), record_.options)) return *earlier;
  if (!run_options_.launcher.empty()) return 1;
  return static_cast<std::size_t>(
      run_options_.runner.max_parallel > 0 ? run_options_.runner.max_parallel : available_cores());
}

TriedPoint TunedSweep::collect(const Json& point, const Plan& plan, const SweepRunner& runner) {
  TriedPoint tried{point};
  for (const PlannedRun& run : plan.runs) {
    tried.runs.push_back(run.id);
    const StoredRun stored = runner.stored(run);
    if (stored.state != StoredRun::done) {
      const Json error =
          stored.manifest.is_object() ? stored.manifest.value("error", Json()) : Json();
      tried.why = fmt::format("failed: {}", error.is_string() ? error.get<std::string>() : run.id);
      return tried;
    }
    const ObjectiveValue found = objective_value(options_.objective, stored.manifest);
    tried.why = found.why_not;
    if (!found.value) return tried;
    tried.values.push_back(*found.value);
    tried.least += found.least / static_cast<double>(plan.runs.size());
    if (options_.objective.is_step_time()) samples_.add(stored.manifest.at("summary"));
  }
  tried.value = std::accumulate(tried.values.begin(), tried.values.end(), 0.0) /
                static_cast<double>(tried.values.size());
  return tried;
}

/// Makes the runs of a point that are missing as a job.
void TunedSweep::launch(const PointPlan& point, const SweepRunner& runner) const {
  const auto is = [&runner](StoredRun::State state) {
    return [&runner, state](const PlannedRun& run) { return runner.state(run) == state; };
  };
  const std::vector<PlannedRun>& runs = point.plan.runs;
  if (!run_options_.runner.force && std::ranges::all_of(runs, is(StoredRun::done))) return;
  std::vector<std::string> words = {"run",        config_.string(),
                                    "--no-table", "--quiet",
                                    "--output",   run_options_.runner.output.string()};
  for (const std::string& setting : settings_) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), {"--set", "/zip=" + Json::array({point.row}).dump()});
  if (run_options_.runner.force) words.push_back("--force");
  const int code = run_under_launcher(run_options_.launcher, words);
  if (code == kInterrupted) throw Stopped{code};
  if (!std::ranges::any_of(runs, is(StoredRun::missing))) return;
  print_error(fmt::format("--launcher \"{}\" has not made the runs; its exit code is {}",
                          run_options_.launcher, code));
  throw Stopped{kRunFailed};
}

std::vector<TriedPoint> TunedSweep::evaluate(const std::vector<Json>& points) {
  std::vector<std::optional<PointPlan>> plans;
  std::vector<TriedPoint> tried;
  std::vector<std::size_t> jobs;  // points with runs that no earlier point has
  Plan all{name_, {}};
  for (const Json& point : points) {
    plans.emplace_back();
    tried.push_back({point});
    try {
      plans.back() = plan_of(point);
    } catch (const ConfigError& error) {
      tried.back().why = "is no experiment: " + first_line_of(error.what());
      continue;
    }
    bool is_new = false;
    for (const PlannedRun& run : plans.back()->plan.runs)
      if (made_.insert(run.id).second) {
        all.runs.push_back(run);
        is_new = true;
      }
    if (is_new) jobs.push_back(plans.size() - 1);
  }
  for (const std::string& warning : warnings_of(all))
    if (warned_.insert(warning).second) spdlog::warn("{}", warning);
  SweepRunner runner(all, run_options_.runner, true);
  if (run_options_.launcher.empty()) {
    if (!all.runs.empty() && runner.run() == kInterrupted) throw Stopped{kInterrupted};
  } else {
    for (const std::size_t i : jobs) launch(*plans[i], runner);
  }
  for (const PlannedRun& run : all.runs)
    if (runner.state(run) == StoredRun::stale) throw Stopped{kRunFailed};
  for (std::size_t i = 0; i < points.size(); ++i)
    if (plans[i]) tried[i] = collect(points[i], plans[i]->plan, runner);
  if (!samples_.warning().empty() && !std::exchange(warned_of_samples_, true))
    spdlog::warn("{}", samples_.warning());
  return tried;
}

int TunedSweep::run() {
  // A signal between two batches stays pending until the next batch, which handles it.
  Signals signals;
  const auto most = static_cast<std::size_t>(options_.evaluations);
  try {
    // A space without end may have ever more points that are the same experiment.
    while (record_.evaluations() < most && record_.tried.size() < 2 * most) {
      show_best();
      std::vector<Json> points;
      for (const Position& p : tuner_.ask(std::min(record_.batch, most - record_.evaluations())))
        points.push_back(options_.space.point_at(p));
      if (points.empty()) break;  // the space has no more
      const bool is_first = record_.tried.empty();
      for (TriedPoint& tried : evaluate(points)) {
        tuner_.tell(options_.space.position_of(tried.point, ""), tried.value);
        record_.add(std::move(tried), options_.method);
        show_progress(record_.tried.back());
      }
      if (is_first) check_first_costs();
      replace_file(folder() / "tuning.json", record_.to_json(options_.objective).dump(2) + "\n");
    }
  } catch (const Stopped& stopped) {
    printer_.clear();
    return stopped.code;
  }
  printer_.clear();
  record_.find_interval(options_, tuner_);
  replace_file(folder() / "tuning.json", record_.to_json(options_.objective).dump(2) + "\n");
  return record_.best() ? kOk : kRunFailed;
}

void TunedSweep::show_progress(const TriedPoint& tried) {
  if (quiet_) return;
  const bool is_best = record_.best() == record_.tried.size() - 1;
  std::string text = tried.value ? cost_text(options_.objective, *tried.value)
                                 : "invalid: it " + first_line_of(tried.why);
  if (is_best) text += " (best so far)";
  if (tried.same_as) text += fmt::format(" (the same experiment as point {})", *tried.same_as + 1);
  printer_.line(fmt::format("[{}/{}] {}: {}", record_.evaluations(), options_.evaluations,
                            describe(tried.point), text));
}

void TunedSweep::show_best() {
  if (quiet_ || !record_.best()) return;
  constexpr std::size_t kWidth = 30;
  const std::size_t filled =
      kWidth * record_.evaluations() / static_cast<std::size_t>(options_.evaluations);
  const TriedPoint& best = record_.tried[*record_.best()];
  printer_.status(fmt::format("[{:#<{}}{:.<{}}] {}/{} evaluations, best {} at {}", "", filled, "",
                              kWidth - filled, record_.evaluations(), options_.evaluations,
                              cost_text(options_.objective, *best.value), describe(best.point)));
}

}  // namespace trigram
