// Runs several algorithms one after another in one run, for example local SGD after synchronous SGD
// (post-local SGD, Lin et al., arXiv 1808.07217) or compressed exchanges after a full-precision
// warm-up (1-bit Adam, Tang et al., arXiv 2102.02888).
//
//   t < u_1: algorithm 1;  u_1 <= t < u_2: algorithm 2;  ...
//
// Each algorithm begins and ends as in a run of its own: its state, such as error-feedback
// residuals, outer momenta and copies of peers' models, starts empty, and its steps count from 0.
// Weights, the position in the data and the optimizer's state carry over, even if the bucket sizes
// change. At a switch, all ranks wait for each other. If the models of the workers may differ then,
// each becomes their mean.
//
// Messages and bytes: those of the algorithms and, at a switch, 2(P-1) control messages and, if
// models may differ, an allreduce of S bytes.

#include <algorithm>

#include "algorithms/entries.h"
#include "algorithms/execution/control_tag.h"
#include "algorithms/options.h"

namespace trigram::algorithm::stages {

struct Stage {
  std::optional<std::int64_t> until;  // the first step of the next stage; empty for the last stage
  Json algorithm = {};
};

namespace {

struct Options {
  Execution execution;
  std::vector<Stage> stages;
};

const AlgorithmEntry& entry_of(const Stage& stage) {
  return find_component(algorithms(), "algorithm", stage.algorithm, "");
}
std::unique_ptr<Algorithm> make(const Stage& stage) {
  return entry_of(stage).make(stage.algorithm);
}
Execution execution_of(const Stage& stage) {
  return entry_of(stage).traits(stage.algorithm).execution;
}

/// True if the models of the workers may differ after `steps` steps of a stage.
bool models_differ(const Stage& stage, const Layout& layout, long steps) {
  const ExchangeSchedule schedule = make(stage)->schedule(layout);
  const long in_cycles = steps - schedule.cycle.value_or(Cycle{}).first_step;
  return entry_of(stage).own_models || (in_cycles > 0 && in_cycles % schedule.interval_steps != 0);
}

void barrier(Context c) {
  if (c.rank() > 0) c.control->post(0, kSwitchTag, 0);
  for (int left = c.rank() > 0 ? 1 : c.size() - 1; left > 0; --left) c.control->receive(kSwitchTag);
  for (int rank = 1; c.rank() == 0 && rank < c.size(); ++rank) c.control->post(rank, kSwitchTag, 0);
}

/// Cuts the model into the buckets of the next stage, if its bucket sizes differ from those of
/// `before`.
void change_buckets(Context ctx, Run& run, const Stage& before, const Stage& next) {
  const BucketSizes sizes = execution_of(next).buckets();
  if (execution_of(before).buckets() == sizes) return;
  run.workload.bucketize(sizes);
  run.optimizer.rebucket(ctx, run.workload);
}

/// Waits for all ranks and, if `average`, replaces all models by their mean.
void switch_over(Context ctx, Run& run, Stream& comm, bool average) {
  ctx.stream->wait(*comm.submit(ctx, [average, x = run.workload.weights()](Context c) {
    barrier(c);
    if (average) c_fp_s(c, x, {});
  }));
}

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("switch");
  for (long first = 0, count = 0; const Stage& stage : options.stages) {
    if (run.steps.count() <= std::max(first, run.steps.current())) return;  // no more steps
    const bool average = first > 0 && models_differ(*std::prev(&stage), *ctx.layout, count);
    count = stage.until.value_or(run.steps.run_count()) - first;
    // The switch is part of the first step of a stage.
    if (run.steps.begin(); first > 0 && run.steps.current() == first) {
      run.state.clear();
      switch_over(ctx, run, *comm, average);
      change_buckets(ctx, run, *std::prev(&stage), stage);
    }
    // Otherwise an earlier part of the run has already finished this stage.
    if (run.steps.current() < first + count) {
      Steps steps(run.steps, first, count);
      Run own{run.workload, run.optimizer, steps, execution_of(stage), run.seed, run.state};
      make(stage)->train(ctx, own);
      ctx.stream->synchronize();
    }
    first += count;
  }
}

/// The cycle is that of the last stage. The earlier stages count as warm-up, and so does the last
/// stage's first step, which contains the switch.
ExchangeSchedule schedule(const Options& options, const Layout& layout) {
  const Stage& last = options.stages.back();
  ExchangeSchedule schedule = make(last)->schedule(layout);
  if (!schedule.cycle) schedule.cycle = Cycle{.exact = false};
  long& first = schedule.cycle->first_step;
  if (options.stages.size() > 1) first = std::max(first, 1L) + *options.stages.rbegin()[1].until;
  schedule.bounds_lead |= entry_of(last).trigram.synchrony == Trigram::Synchrony::sync;
  return schedule;
}

}  // namespace

namespace {

/// All stages must have the same workers, because the data are divided among the workers.
void check(const Options& options, const Layout& layout, const std::string& pointer) {
  const Stage& first = options.stages.front();
  for (std::size_t i = 0; i < options.stages.size(); ++i) {
    const Stage& stage = options.stages[i];
    const std::string place = fmt::format("{}/stages/{}/algorithm", pointer, i);
    entry_of(stage).check(stage.algorithm, layout, place);
    const auto workers = [&layout](const Stage& of) {
      return entry_of(of).workers(of.algorithm, layout).ranks;
    };
    if (workers(stage) != workers(first))
      throw ConfigError(
          place,
          "expected the same workers as in the first stage, but this stage has its servers "
          "or its store on other ranks; choose the same in all stages");
  }
}

/// Every stage but the last must have an "until", which is larger than that of the stage before.
void check_steps(const Options& options, const std::string& pointer) {
  // Each stage forks its own streams, and a world limits the streams of a rank.
  constexpr std::size_t kMostStages = 5;
  const std::size_t count = options.stages.size();
  if (count < 1 || count > kMostStages)
    throw ConfigError(child(pointer, "stages"),
                      fmt::format("expected 1 to {} stages, not {}", kMostStages, count));
  std::int64_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::int64_t>& until = options.stages[i].until;
    const std::string place = fmt::format("{}/stages/{}/until", pointer, i);
    if (i + 1 == count && until)
      throw ConfigError(place, "the last stage lasts until the run ends; remove this option");
    if (i + 1 < count && !until)
      throw ConfigError(place, "missing; expected the first step of the next stage",
                        Mistake::Kind::missing);
    if (until && *until <= before)
      throw ConfigError(place, fmt::format("expected more than {}, where this stage begins, not {}",
                                           before, *until));
    before = until.value_or(before);
  }
}

/// Any algorithm but this one.
OptionType<Json> algorithm_kind() {
  return {[](const Json& j, const std::string& pointer) {
            if (component_name(j, pointer) == "stages")
              throw ConfigError(pointer,
                                "stages cannot be inside stages; expected another algorithm");
            return resolve_component(algorithms(), "algorithm", j, pointer);
          },
          [](const Json& resolved) { return resolved; },
          []() -> Json {
            return {{"$ref", "#/properties/algorithm"}};
          }};
}

}  // namespace

AlgorithmEntry stages_entry() {
  const auto stage =
      FieldTable<Stage>{}
          .field("until", &Stage::until, optional(integer(1)),
                 "The step, counted from the start of the run, at which the next stage begins; not "
                 "given for the last stage")
          .required("algorithm", &Stage::algorithm, algorithm_kind(), "The algorithm of the stage");
  AlgorithmEntry entry = algorithm_entry(
      {.name = "stages",
       .doc = "Algorithms one after another, each until a given step",
       .trigram = kSyncFullPrecisionCentralised,
       .execution_options = "",
       .source = "Lin et al., arXiv 1808.07217; Tang et al., arXiv 2102.02888"},
      train,
      FieldTable<Options>{}
          .required(
              "stages", &Options::stages, list_of(nested(stage)),
              "The algorithms in order, as a list of {\"until\": step, \"algorithm\": ...}, the "
              "last without \"until\"")
          .finish_with(check_steps),
      {.schedule = schedule,
       .check = check,
       .workers = [](const Options& options, const Layout& layout) {
         const Stage& first = options.stages.front();
         return entry_of(first).workers(first.algorithm, layout);
       }});
  // The run has every relaxation that any stage has. Its execution options are those of the first
  // stage, except `hierarchical`, which is that of the last.
  entry.traits = [](const Json& resolved) {
    AlgorithmTraits all{};
    all.trigram = kSyncFullPrecisionCentralised;
    all.averages_gradients = true;
    Json named = resolved;
    // used_algorithms looks the entry up by name, which `resolved` may lack.
    named["name"] = "stages";
    for (const UsedAlgorithm& used : used_algorithms(named, "")) {
      const AlgorithmTraits own = used.entry->traits(used.resolved);
      if (used.pointer == "/stages/0/algorithm") all.execution = own.execution;
      if (own.allreduce == AllreduceAlgorithm::native) all.allreduce = own.allreduce;
      all.execution.hierarchical = own.execution.hierarchical;
      all.averages_gradients &= own.averages_gradients;
      all.trigram.synchrony = std::max(all.trigram.synchrony, own.trigram.synchrony);
      all.trigram.precision = std::max(all.trigram.precision, own.trigram.precision);
      all.trigram.centralisation = std::max(all.trigram.centralisation, own.trigram.centralisation);
    }
    return all;
  };
  return entry;
}

}  // namespace trigram::algorithm::stages
