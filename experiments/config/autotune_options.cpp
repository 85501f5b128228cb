#include "experiments/config/autotune_options.h"

#include <fmt/format.h>

#include "experiments/config/experiment.h"

namespace trigram {
namespace {

/// Every size has streams of its own, and a world limits the streams of a rank.
constexpr std::int64_t kMostSizes = 16;

FieldTable<AutotuneOptions> autotune_fields() {
  using A = AutotuneOptions;
  return FieldTable<A>{}
      .field("every", &A::every, integer(2, 100'000'000),
             "Steps between two changes of the buckets. The first one is not measured.")
      .field("evaluations", &A::evaluations, integer(2, kMostSizes),
             "How many sizes to try, with the configured one.")
      .field("smallest", &A::smallest, byte_size(),
             "The sizes to try are the configured one and the powers of two from this one ...")
      .field("largest", &A::largest, byte_size(), "... to this one.")
      .finish_with([](const A& options, const std::string& pointer) {
        if (options.smallest < 1 || options.smallest > options.largest)
          throw ConfigError(child(pointer, "smallest"),
                            fmt::format("expected a size from 1B to `largest`, {}, not {}",
                                        quoted(byte_size().dump(options.largest)),
                                        quoted(byte_size().dump(options.smallest))));
      });
}

}  // namespace

OptionType<std::optional<AutotuneOptions>> autotune_options() {
  using Value = std::optional<AutotuneOptions>;
  const FieldTable<AutotuneOptions> fields = autotune_fields();
  return {[fields](const Json& j, const std::string& pointer) -> Value {
            if (j.is_boolean()) return j.get<bool>() ? Value(AutotuneOptions{}) : std::nullopt;
            if (!j.is_object()) wrong_type(pointer, "true, false or an object", j);
            return fields.parse(j, pointer);
          },
          [fields](const Value& value) { return value ? fields.dump(*value) : Json(); },
          [fields]() -> Json {
            return {{"anyOf", {{{"type", "boolean"}}, fields.schema()}}};
          }};
}

void check_autotune(const Experiment& e) {
  if (!e.autotune) return;
  const auto refuse = [](const std::string& why) { throw ConfigError("/autotune", why); };
  const AlgorithmEntry& entry = e.algorithm_entry();
  const ExchangeSchedule schedule = e.schedule();
  constexpr const char* kExpected = "expected another algorithm, such as gradient_allreduce";
  if (!e.synchronous())
    refuse(
        fmt::format("all ranks change their buckets at the same step, and the ranks of {} are "
                    "at different steps; {}",
                    entry.name, kExpected));
  if (entry.execution_options.find('F') == std::string::npos)
    refuse(fmt::format("{} has no buckets of a size to choose; {}", entry.name, kExpected));
  if (entry.own_models || schedule.interval_steps > 1 || !schedule.cycle ||
      schedule.cycle->first_step > 0)
    refuse(
        fmt::format("a change of buckets begins the algorithm anew, and {} has a warm-up, or "
                    "models that differ between its exchanges; {}",
                    entry.name, kExpected));
  if (e.workload.contains("buckets") && !e.workload.at("buckets").empty())
    refuse("the workload says which tensors are in a bucket; remove this option or its buckets");
  if (e.until_steady)
    refuse("steps do not repeat while buckets change; expected until_steady false beside it");
  if (e.steps <= e.autotune->every)
    refuse(
        fmt::format("buckets first change after {} steps, and the run has {}; expected more "
                    "steps, or a smaller value of `every`",
                    e.autotune->every, e.steps));
}

}  // namespace trigram
