#include "experiments/run/shortfall.h"

#include <fmt/format.h>

#include <algorithm>

namespace trigram {
namespace {

/// True if the exchange among leaders of a hierarchical algorithm, which does more than the
/// averaging within nodes, never happens because there is a single node.
bool leader_has_no_peer(const Experiment& e) {
  const AlgorithmTraits traits = e.algorithm_entry().traits(e.algorithm);
  if (e.cluster.nodes > 1 || !traits.execution.hierarchical) return false;
  const Trigram& trigram = traits.trigram;
  return trigram.precision == Trigram::Precision::low ||
         trigram.centralisation == Trigram::Centralisation::decentralised;
}

/// The number of averages that each rank completed in the steps that the means cover, if time alone
/// decides when averages are made; otherwise kLeastExchanges, which is enough.
long completed_averages(const Experiment& e, const ExchangeSchedule& schedule,
                        const Json& summary) {
  if (!schedule.by_time) return kLeastExchanges;
  return summary.at("rates").at("updates").get<long>() / e.cluster.layout().ranks();
}

/// Returns the reason why workers did not exchange what the algorithm has them exchange; empty if
/// they did.
std::string missing_exchange(const Experiment& e, const ExchangeSchedule& schedule,
                             const Json& summary) {
  const auto sent = [&](const char* key) { return summary.at(key).get<double>() > 0; };
  const long steps = summary.at("steps");
  if (leader_has_no_peer(e))
    return "was hierarchical on one node, so the exchange among leaders of nodes never happened; "
           "set hierarchical to false";
  if (e.cluster.nodes > 1 && !sent("bytes_inter"))
    return fmt::format("sent nothing between its nodes in {} steps", steps);
  if (!sent("bytes_intra") && !sent("bytes_inter"))
    return fmt::format("sent nothing between its workers in {} steps", steps);
  if (schedule.by_time && summary.at("staleness_mean").is_null())
    return fmt::format("completed no average in {} steps", steps);
  if (completed_averages(e, schedule, summary) <= 1)
    return fmt::format(
        "completed no average in {} steps except the one at the start of the run, of equal models",
        steps);
  return "";
}

/// Returns the reason why the steps of a simulated run are not yet those of a long run; empty if
/// there is none. If the network changes over time, or workers fail, so do the steps; the summary
/// and other warnings report that.
std::string without_long_run(const Experiment& e, const Json& summary) {
  const Json& trend = summary.at("trend");
  if (trend.is_null() || !summary.at("steady").is_null() || !e.world().simulated ||
      !e.cluster.inter.profile.empty() || e.cluster.inter.shaping.depth_bytes > 0 ||
      !e.cluster.failures.none())
    return "";
  const auto ms = [&](const char* half) { return 1e3 * trend.at(half).get<double>(); };
  return fmt::format(
      "took {:.4g} ms a step in the first half of its steps and {:.4g} ms in the second, so it is "
      "not in its long run yet",
      ms("first_half_step_s"), ms("second_half_step_s"));
}

/// Returns the reason why the steps are too short because exchanges fell behind; empty if they did
/// not.
std::string with_backlog(const Json& backlog) {
  if (backlog.is_null()) return "";
  const Json& step_s = backlog.at("long_run_step_s");
  return fmt::format(
      "sent less in its steps than its workers exchange, because exchanges run beside several "
      "steps "
      "and fell behind{}",
      step_s.is_null() ? ""
                       : fmt::format("; a step of a long run takes about {:.4g} ms",
                                     1e3 * step_s.get<double>()));
}

Cycle cycle_of(const ExchangeSchedule& schedule) {
  return schedule.cycle.value_or(Cycle{.exact = false});
}

long least_steps(const ExchangeSchedule& schedule) {
  const Cycle cycle = cycle_of(schedule);
  if (cycle.exact || schedule.by_time) return cycle.steps;
  return std::max(cycle.steps, kLeastExchanges * schedule.interval_steps);
}

}  // namespace

Cycle rated_cycle(const Experiment& e) { return cycle_of(e.schedule()); }

long least_rated_steps(const Experiment& e) { return least_steps(e.schedule()); }

long shown_step(const Experiment& e) {
  const ExchangeSchedule schedule = e.schedule();
  const long from = cycle_of(schedule).first_step, every = schedule.interval_steps;
  constexpr long kSettled = 2;  // steps until buffers and windows reach their steady state
  // Number of the first exchange after those steps.
  const long exchanges = (kSettled + every) / every;
  const long chosen = e.timeline.step.value_or(from + exchanges * every - 1);
  return std::min<long>(chosen, e.steps - 1);
}

Json shortfall(const Experiment& e, const Json& summary) {
  if (e.cluster.layout().ranks() == 1) return nullptr;
  const ExchangeSchedule schedule = e.schedule();
  const Cycle cycle = cycle_of(schedule);
  const long steps = summary.at("steps"), rated = steps - cycle.first_step;
  const long every = schedule.interval_steps, least = least_steps(schedule);
  const auto lacks = [](const char* results, const std::string& why) {
    return Json{{"why", why}, {"of", results}};
  };
  const std::string later =
      cycle.first_step > 0 ? fmt::format(" after its warm-up of {}", cycle.first_step) : "";
  // A warm-up is a different algorithm: its cost and its learning say nothing about the steps that
  // follow.
  if (rated <= 0)
    return lacks("run",
                 fmt::format("made {} steps, all of its warm-up of {}", steps, cycle.first_step));
  if (rated < every)
    return lacks("run", fmt::format("made {} of the {} steps from one exchange to the next{}",
                                    rated, every, later));
  if (const std::string why = missing_exchange(e, schedule, summary); !why.empty())
    return lacks("run", why);
  if (rated < cycle.steps)
    return lacks("rates",
                 fmt::format("made {} of the {} steps of its cycle{}", rated, cycle.steps, later));
  if (const long averages = completed_averages(e, schedule, summary);
      averages < kLeastExchanges && e.cluster.accelerator.overlap_slowdown > 1)
    return lacks("rates",
                 fmt::format("completed {} of 10 averages, whose traffic slows computation "
                             "down",
                             averages));
  if (rated < least)
    return lacks("rates", fmt::format("made {} of the {} steps of {} exchanges, as time or chance "
                                      "decide about each{}",
                                      rated, least, kLeastExchanges, later));
  if (const std::string why = with_backlog(summary.at("backlog")); !why.empty())
    return lacks("rates", why);
  if (const std::string why = without_long_run(e, summary); !why.empty())
    return lacks("rates", why);
  return nullptr;
}

std::string few_averages_warning(const Experiment& e, const Json& summary) {
  const ExchangeSchedule schedule = e.schedule();
  const long averages = completed_averages(e, schedule, summary);
  if (averages <= 0 || averages >= kLeastExchanges) return "";
  const std::string most = averages == 1
                               ? "many times"
                               : fmt::format("{:.2g} times", static_cast<double>(averages) /
                                                                 static_cast<double>(averages - 1));
  return fmt::format(
      "bytes per step are of {} average{}, the first of which begins with the run: they may be up "
      "to {} those of a long run",
      averages, averages == 1 ? "" : "s", most);
}

}  // namespace trigram
