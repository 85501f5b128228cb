#include "experiments/config/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "core/config/option_type.h"
#include "core/optimizers/registry.h"
#include "core/workloads/registry.h"
#include "experiments/config/jobs.h"
#include "experiments/config/sweep.h"
#include "experiments/config/tune_options.h"

namespace trigram {
namespace {

template <class Entry>
OptionType<Json> reference(const std::vector<Entry>& entries, std::string kind) {
  return {[&entries, kind](const Json& j, const std::string& pointer) {
            return resolve_component(entries, kind, j, pointer);
          },
          [](const Json& resolved) { return resolved; },
          [&entries] { return schema_of_components(entries); }};
}

OptionType<Json> workload_reference(const std::filesystem::path& base) {
  return {[base](const Json& j, const std::string& pointer) {
            return resolve_workload(j, pointer, base);
          },
          [](const Json& resolved) { return resolved; }, workload_schema};
}

OptionType<Cluster> cluster() {
  const FieldTable<Cluster> fields = cluster_fields();
  return {parse_cluster, [fields](const Cluster& c) { return fields.dump(c.whole ? *c.whole : c); },
          [fields] { return fields.schema(); }};
}

/// True if programs would mistake a folder of this name for a run or for a file of a run.
bool resembles_a_run(const std::string& name) {
  constexpr const char* kFiles[] = {"manifest.json", "metrics.jsonl", "trace.json", "DONE",
                                    "log.txt",       "outcome.json",  "report.html"};
  return name.find(".tmp.") != std::string::npos ||
         std::ranges::find(kFiles, name) != std::end(kFiles);
}

/// A string that is valid as the name of a folder.
OptionType<std::string> folder_name() {
  constexpr const char* kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return {
      [](const Json& j, const std::string& pointer) {
        const std::string name = text().parse(j, pointer);
        if (name.empty() || name[0] == '.' || name.find_first_not_of(kAllowed) != std::string::npos)
          wrong_type(pointer, "a name of letters, digits, '_', '-' and '.'", j);
        if (resembles_a_run(name))
          wrong_type(pointer, "a name that no file or folder of a run can have", j);
        return name;
      },
      [](const std::string& name) -> Json { return name; },
      []() -> Json {
        return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"}};
      }};
}

FieldTable<TimelineOptions> timeline_fields() {
  return FieldTable<TimelineOptions>{}
      .field("step", &TimelineOptions::step, optional(integer(0)),
             "The step to draw; the last step if the run is shorter. By default, a step after the "
             "warm-up at whose end workers exchange.")
      .field("ranks", &TimelineOptions::ranks, integer(0, 1024), "How many ranks to draw.");
}

/// A number that is not dumped if it is 1, the default, so that runs without the option keep their
/// ids.
OptionType<std::int64_t> dumped_above_one(std::int64_t maximum) {
  return dumped_if(integer(1, maximum), [](std::int64_t n) { return n > 1; });
}

/// True if the optimizer gets the mean gradient of several workers in every step.
bool has_mean_gradients(const Experiment& e) {
  return e.algorithm_entry().traits(e.algorithm).averages_gradients && e.cluster.ranks() > 1;
}

constexpr const char* kNeedsEvaluations =
    "is checked when the model is evaluated; expected eval_every above 0 beside it";

/// Reports options of failures that have no effect with the algorithm, the world or checkpoints.
void check_recovery(const Experiment& e, const std::string& pointer) {
  if (e.cluster.failures.replace || e.carries_on()) return;
  throw ConfigError(pointer + "/cluster/failures/replace",
                    "has no effect here, where all workers restart after a crash; expected an "
                    "algorithm, a world and a run without checkpoints that carry on",
                    Mistake::Kind::without_effect);
}

/// The schema of a required field, which may be missing if the sweep or every job sets it.
Json given_or_swept(const std::string& field) {
  const std::string pointer = child("", field);
  Json forms = {{{"required", {field}}}, {{"required", {"jobs"}}}};
  for (const char* kind : {"sweep", "zip"})
    // "required" applies to objects only, and "items" applies to lists only, that is, to the rows
    // of a zip.
    forms.push_back({{"required", {kind}},
                     {"properties",
                      {{kind, {{"required", {pointer}}, {"items", {{"required", {pointer}}}}}}}}});
  return {{"anyOf", forms}};
}

}  // namespace

const World& Experiment::world() const {
  return find_component(worlds(), "world", runtime, "/runtime");
}

std::optional<TargetLevel> Experiment::target() const {
  if (target_accuracy) return TargetLevel{TargetLevel::Of::accuracy, *target_accuracy};
  if (target_loss) return TargetLevel{TargetLevel::Of::loss, *target_loss};
  return std::nullopt;
}

ExchangeSchedule Experiment::schedule() const {
  return algorithm_entry().make(algorithm)->schedule(cluster.layout());
}

const AlgorithmEntry& Experiment::algorithm_entry() const {
  return find_component(algorithms(), "algorithm", algorithm, "/algorithm");
}

bool Experiment::carries_on() const {
  const Failures& failures = cluster.failures;
  if (failures.none() || failures.recovery == Recovery::restart || checkpoint) return false;
  if (world().processes) return false;
  const Layout layout = cluster.layout();
  const bool any_fails = failures.node_mtbf_s > 0 || failures.heartbeats;  // or is suspected
  std::vector<bool> fails(static_cast<std::size_t>(layout.ranks()), any_fails);
  const auto comes_or_goes = [](const Failure& event) {
    return !event.has({Failure::Kind::freeze, Failure::Kind::partition});
  };
  for (const Failure& event : failures.events)
    if (comes_or_goes(event))
      for (int rank = event.first_rank(cluster.workers_per_node);
           rank <= event.last_rank(cluster.workers_per_node) && rank < layout.ranks(); ++rank)
        fails[static_cast<std::size_t>(rank)] = true;
  if (!any_fails && std::ranges::none_of(failures.events, comes_or_goes)) return false;
  const Workers dispensable = algorithm_entry().dispensable(algorithm, layout);
  for (int rank = 0; rank < layout.ranks(); ++rank)
    if (fails[static_cast<std::size_t>(rank)] && !dispensable.include(rank)) return false;
  return true;
}

bool would_carry_on(const Experiment& experiment) {
  Experiment failing = experiment;
  failing.cluster.failures = {};
  failing.cluster.failures.node_mtbf_s = 1;
  return failing.carries_on();
}

bool Experiment::synchronous() const {
  return algorithm_entry().traits(algorithm).trigram.synchrony == Trigram::Synchrony::sync &&
         !leaves_out_steps();
}

bool Experiment::leaves_out_steps() const {
  return algorithm_entry().traits(algorithm).closes_early || carries_on();
}

FieldTable<Experiment> experiment_fields(const std::filesystem::path& base) {
  using E = Experiment;
  return FieldTable<E>{}
      .field("name", &E::name, folder_name(),
             "Name of the results folder; by default, the name of this file.")
      .field("description", &E::description, text(), "What the experiment is for.")
      .field("runtime", &E::runtime, reference(worlds(), "world"),
             "The world to run in: \"sim\" (virtual time, the default) or one in real time.")
      .required("cluster", &E::cluster, cluster(),
                "The machines and their network: a description, or the path of one.")
      .required("algorithm", &E::algorithm, reference(algorithms(), "algorithm"),
                "The training algorithm: a description, or the path of one.")
      .required("workload", &E::workload, workload_reference(base),
                "What is trained: a layer-time profile or a real model.")
      .field("optimizer", &E::optimizer, reference(optimizers(), "optimizer"),
             "The update rule, \"sgd\" by default.")
      .required("steps", &E::steps, integer(1, 100'000'000), "Training iterations of each worker.")
      .field("until_steady", &E::until_steady, boolean(),
             "Simulate steps of a profile only until they repeat; the left-out steps count like "
             "the last cycle of simulated steps.")
      .field("micro_batches", &E::micro_batches, dumped_above_one(1 << 20),
             "Mini-batches of the workload whose gradients a worker averages before the exchange "
             "of a step (gradient accumulation); 1 by default.")
      .field("clip_norm", &E::clip_norm,
             optional(number(0, std::numeric_limits<double>::infinity(), Open::below)),
             "Greatest Euclidean norm of the whole gradient that the optimizer sees; longer "
             "gradients are shortened to it. Not clipped by default.")
      .field("autotune", &E::autotune, autotune_options(),
             "Try sizes of buckets during the run, and keep the one with the shortest steps; true: "
             "with the defaults.")
      .field("checkpoint", &E::checkpoint, checkpoint_options(),
             "Write the state of the run from time to time, so that `trigram run --resume` can "
             "continue it. Not written by default.")
      .field("seed", &E::seed, integer(0),
             "Key of all random numbers. A list of seeds gives means and spreads.")
      .field("eval_every", &E::eval_every, integer(0),
             "Steps between evaluations of the mean model; 0 evaluates after the last step only.")
      .field("target_accuracy", &E::target_accuracy, optional(number(0, 1, Open::below)),
             "End at the first evaluation at which the mean model reaches this accuracy; if none "
             "does, after `steps`.")
      .only_where([](const E& e) { return e.eval_every > 0; }, kNeedsEvaluations)
      .field("target_loss", &E::target_loss,
             optional(number(0, std::numeric_limits<double>::infinity(), Open::below)),
             "End at the first evaluation at which the mean model's loss on held-out data is at or "
             "below this; if none is, after `steps`. In the unit of the workload's loss.")
      .only_where([](const E& e) { return e.eval_every > 0; }, kNeedsEvaluations)
      .field(
          "gradient_noise", &E::gradient_noise, dumped_if(boolean(), std::identity()),
          "Measure the gradient noise scale (McCandlish et al., arXiv 1812.06162), which takes no "
          "simulated time.")
      .only_where(has_mean_gradients,
                  "has no effect here; expected two or more workers and an algorithm whose "
                  "optimizer gets their mean gradient in full precision in every step: "
                  "gradient_allreduce, or parameter_server without a priority of need")
      .field(
          "jobs", &E::jobs, jobs_option(),
          "Jobs that share the cluster, each with nodes of its own and, in place of those of "
          "this file, an algorithm, a workload and so on. One run is made for each: it simulates "
          "all jobs and measures one.")
      .field("job", &E::job, dumped_if(text(), [](const std::string& s) { return !s.empty(); }),
             "The name of the only job to measure; by default, all are measured.")
      .field("timeline", &E::timeline, nested(timeline_fields()), "The step that trace.json shows.")
      .finish_with([](E& e, const std::string& pointer) {
        check_recovery(e, pointer);
        place_jobs(e, pointer);
      });
}

Json config_schema() {
  Json schema = experiment_fields(".").schema();
  Json& properties = schema["properties"];
  Json path = {{"type", "string"},
               {"description", "Path of a description, relative to this file."}};
  properties["cluster"] = {{"anyOf", {properties["cluster"], path}}};
  path["pattern"] = "\\.json$";
  properties["algorithm"] = {{"anyOf", {properties["algorithm"], path}}};
  Json seeds = {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "integer"}}}};
  Json& of_job = properties["jobs"]["items"]["properties"];
  for (const std::string& field : job_fields()) of_job[field] = properties[field];
  for (const char* large : {"algorithm", "workload", "optimizer"})
    of_job[large] = {{"$ref", std::string("#/properties/") + large}};
  properties["seed"] = {{"anyOf", {properties["seed"], seeds}}};
  properties["sweep"] = sweep_schema();
  properties["zip"] = zip_schema();
  properties["sweep"]["description"] =
      "JSON pointers to lists of values; one run is made for each combination.";
  properties["zip"]["description"] =
      "JSON pointers to lists of the same length, which advance together; or a list of rows, each "
      "an object of JSON pointers to values.";
  properties["tune"] = tune_options().schema();
  properties["tune"]["description"] =
      "What `trigram tune` searches, and the cost that it minimises; other commands ignore it.";
  properties["$schema"] = {{"type", "string"},
                           {"description", "Path of this schema, for editors."}};
  for (const Json& field : schema["required"]) schema["allOf"].push_back(given_or_swept(field));
  schema.erase("required");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "A Trigram experiment";
  return schema;
}

}  // namespace trigram
