#include "experiments/config/tune_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "experiments/config/config_file.h"
#include "experiments/config/settings.h"

namespace trigram {
namespace {

/// The numbers of a summary that may be weighted.
const std::vector<std::string> kWeighted = {
    "time_s",          "step_s",         "samples_per_s",       "compute_s",
    "communication_s", "exposed_s",      "compute_utilisation", "bytes_intra",
    "bytes_inter",     "messages_intra", "messages_inter",      "loss",
    "eval_loss",       "accuracy",       "consensus_distance",  "staleness_mean",
    "staleness_max"};

/// BAGUA's space: buckets of 2^10 to 2^31 bytes, with and without the hierarchy.
constexpr const char* kBaguaSpace = R"({
  "/algorithm/bucket": {"powers_of_two": ["1KiB", "2GiB"]},
  "/algorithm/hierarchical": {"values": [false, true]}
})";

/// The only member of an object.
std::pair<std::string, Json> only_member(const Json& j, const std::string& pointer,
                                         const std::string& expected) {
  if (!j.is_object() || j.size() != 1) wrong_type(pointer, expected, j);
  return {j.begin().key(), j.begin().value()};
}

TargetLevel parse_level(const Json& j, const std::string& pointer) {
  const auto [name, value] = only_member(j, pointer, R"({"accuracy": level} or {"loss": level})");
  const auto level = TargetLevel::named(name, value.is_number() ? value.get<double>() : 0);
  if (!level) unknown_name(pointer, "target", name, TargetLevel::names());
  if (!level->is_allowed()) wrong_type(child(pointer, name), level->allowed(), value);
  return *level;
}

std::map<std::string, double> parse_weights(const Json& j, const std::string& pointer) {
  if (!j.is_object() || j.empty())
    wrong_type(pointer, "an object of keys of the summary and their weights", j);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::map<std::string, double> weights;
  for (const auto& [key, weight] : j.items()) {
    if (std::ranges::find(kWeighted, key) == kWeighted.end())
      unknown_name(pointer, "key of the summary", key, kWeighted);
    weights[key] = number(-kInfinity, kInfinity).parse(weight, child(pointer, key));
  }
  return weights;
}

Objective parse_objective(const Json& j, const std::string& pointer) {
  constexpr const char* kForms =
      R"("step_time", {"time_to": {"accuracy": 0.8}} or {"weights": {"step_s": 1}})";
  Objective objective;
  objective.definition = j;
  if (j == "step_time") return objective;
  const auto [form, value] = only_member(j, pointer, kForms);
  if (form == "time_to") objective.target = parse_level(value, child(pointer, form));
  else if (form == "weights") objective.weights = parse_weights(value, child(pointer, form));
  else wrong_type(pointer, kForms, j);
  return objective;
}

Json objective_schema() {
  const Json level = {
      {"type", "object"},
      {"properties", {{"accuracy", {{"type", "number"}}}, {"loss", {{"type", "number"}}}}},
      {"additionalProperties", false},
      {"minProperties", 1},
      {"maxProperties", 1}};
  const Json weights = {{"type", "object"},
                        {"minProperties", 1},
                        {"propertyNames", {{"enum", kWeighted}}},
                        {"additionalProperties", {{"type", "number"}}}};
  const auto form = [](const char* name, const Json& value) {
    return Json{{"type", "object"},
                {"properties", {{name, value}}},
                {"required", {name}},
                {"additionalProperties", false}};
  };
  return {{"anyOf", {{{"const", "step_time"}}, form("time_to", level), form("weights", weights)}}};
}

FieldTable<TuneOptions> tune_fields() {
  using T = TuneOptions;
  return FieldTable<T>{}
      .field("space", &T::space, search_space(),
             "JSON pointers and the values to try. The method \"bagua\" has a default: buckets of "
             "1 KiB to 2 GiB, with and without `hierarchical`.")
      .field("objective", &T::objective, objective(),
             "The cost to minimise: \"step_time\", the time to an accuracy or a held-out loss, or "
             "a weighted sum of values of the summary.")
      .field("method", &T::method,
             one_of<TuneMethod>({{"bayesian", TuneMethod::bayesian},
                                 {"random", TuneMethod::random},
                                 {"bagua", TuneMethod::bagua},
                                 {"grid", TuneMethod::grid}}),
             "How points are chosen: Bayesian optimisation, at random, as BAGUA's autotuning "
             "service chooses them, or on a regular grid.")
      .field("evaluations", &T::evaluations, integer(1, 100'000), "How many points to evaluate.")
      .field("initial", &T::initial, integer(0, 100'000),
             "Points of Halton's sequence before the first model; 0: 20 for \"bagua\", else 4.")
      .field("batch", &T::batch, integer(0, 4096),
             "Points that are proposed together; 0: as many as simulations run at a time.")
      .field("seed", &T::seed, integer(0), "Key of the random numbers of the search.");
}

TuneOptions parse_tune_options(const Json& j, const std::string& pointer) {
  TuneOptions options = tune_fields().parse(j, pointer);
  if (!options.space.dimensions.empty()) return options;
  if (options.method != TuneMethod::bagua)
    throw ConfigError(child(pointer, "space"),
                      "no point in the space: expected at least one JSON pointer with the values "
                      "to try");
  options.space = search_space().parse(Json::parse(kBaguaSpace), child(pointer, "space"));
  return options;
}

/// The points of the search are the rows of a zip, so the configuration itself has none.
void check_sweeps_seeds_only(const Json& config) {
  const auto refuse = [](const char* kind) {
    throw ConfigError(child("", kind),
                      "cannot be tuned over; expected at most a sweep over seeds, "
                      "over which the cost of a point is averaged");
  };
  if (!config.value("zip", Json::array()).empty()) refuse("zip");
  const Json sweep = config.value("sweep", Json::object());
  for (const auto& [pointer, values] : sweep.items())
    if (!pointer.ends_with("seed")) refuse("sweep");
}

/// The time to a level is known only from evaluations during the run.
void check_is_evaluated(const TuneOptions& options, const Json& config) {
  constexpr const char* kOption = "/eval_every";
  const bool is_tuned = std::ranges::any_of(options.space.dimensions, [&](const auto& dimension) {
    return dimension.pointer == kOption;
  });
  if (!options.objective.target || is_tuned || config.value("eval_every", Json(0)) != 0) return;
  throw ConfigError(
      "/tune/objective/time_to",
      fmt::format("is known only from evaluations during the run; expected eval_every "
                  "above 0 beside tune, such as --set {}=10",
                  kOption));
}

TuneOptions tune_options_of(const std::filesystem::path& path,
                            const std::vector<std::string>& settings) {
  Json config = read_config_file(path);
  if (!config.is_object()) wrong_type("", "an object", config);
  inline_files(config, path.parent_path());
  apply_settings(config, settings, path.parent_path());
  check_sweeps_seeds_only(config);
  if (!config.contains("tune"))
    throw ConfigError("/tune",
                      R"(is missing; expected {"space": {"/json/pointer": {"values": [...]}}})");
  TuneOptions options = tune_options().parse(config["tune"], "/tune");
  check_is_evaluated(options, config);
  return options;
}

}  // namespace

std::string Objective::text() const {
  if (target) return fmt::format("time to {}", target->text());
  return weights.empty() ? "step time" : "weighted cost";
}

Tuner TuneOptions::tuner() const {
  return {space,
          {method, static_cast<std::size_t>(evaluations), static_cast<std::uint64_t>(seed),
           static_cast<std::size_t>(initial)}};
}

OptionType<Objective> objective() {
  return {parse_objective, [](const Objective& o) { return o.definition; }, objective_schema};
}

OptionType<TuneOptions> tune_options() {
  return {parse_tune_options, [](const TuneOptions& o) { return tune_fields().dump(o); },
          [] { return tune_fields().schema(); }};
}

TuneOptions read_tune_options(const std::filesystem::path& config,
                              const std::vector<std::string>& settings) {
  try {
    return tune_options_of(config, settings);
  } catch (const ConfigError& error) {
    throw error.in_file(config.string());
  }
}

}  // namespace trigram
