#include "experiments/advise/long_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/config/option_type.h"
#include "experiments/run/drawn_steps.h"
#include "experiments/run/lock_step.h"
#include "experiments/run/shortfall.h"
#include "experiments/run/steady_steps.h"
#include "experiments/text/labels.h"

namespace trigram {
namespace {

/// The least number of steps after the warm-up of a run whose workers leave lock step. In a shorter
/// run the workers may still be in lock step, and its step times would not show the later change.
constexpr long kLeastOutOfStep = 160;
/// Number of cycles of a run that may leave out steps. Two cycles show that it is steady; the
/// others are then not simulated.
constexpr long kCycles = 4;
/// The interval between evaluations is chosen such that a run has at least this many, if it has as
/// many steps and its cycle allows it. The interval is then small compared with the time to most
/// accuracies.
constexpr long kLeastEvaluations = 200;

constexpr const char* kCredit = "/inter/shaping/initial";
constexpr const char* kChanges = "/inter/profile";

/// The element at `pointer`; null if there is none.
Json* find_element(Json& cluster, const char* pointer) {
  const Json::json_pointer place(pointer);
  return cluster.is_object() && cluster.contains(place) ? &cluster[place] : nullptr;
}

std::string remove_credit(Json& shaping) {
  const Json was = shaping.value("initial", shaping.value("depth", Json("0B")));
  shaping["initial"] = "0B";
  return fmt::format(
      "token buckets start without saved credit, as in the long run; --set /cluster{}={} starts "
      "with it",
      kCredit, label_of(was));
}

std::string keep_last_change(Json& changes) {
  const std::string was = changes.dump();
  Json last = changes.back();
  const std::string from = label_of(last.value("at", Json("0s")));
  last["at"] = "0s";
  changes = Json::array({last});
  return fmt::format(
      "links between nodes have {} x their bandwidth and {} x their latency from the start, "
      "although the cluster changes them to that only at {}: its last change holds in the long "
      "run; --set '/cluster{}={}' keeps the changes",
      last.value("bandwidth", Json(1)).dump(), last.value("latency", Json(1)).dump(), from,
      kChanges, was);
}

bool has_credit(const Json& shaping) {
  const auto bytes = [&](const char* key, double default_bytes) {
    return shaping.contains(key) ? quantity(Dimension::bytes)
                                       .parse(shaping.at(key), child("/cluster/inter/shaping", key))
                                 : default_bytes;
  };
  return std::min(bytes("initial", Shaping::kFull), bytes("depth", 0)) > 0;
}

bool changes_later(const Json& changes) {
  return changes.is_array() && !changes.empty() && changes.back().is_object() &&
         changes.back().contains("at") &&
         quantity(Dimension::duration).parse(changes.back().at("at"), "/cluster/inter/profile") > 0;
}

}  // namespace

long long_run_steps(const Experiment& e) {
  const Cycle cycle = rated_cycle(e);
  const bool may_leave_out_steps = make_steady_steps(e, {}) != nullptr;
  const long cycles = may_leave_out_steps ? kCycles : 1;
  const long least = std::max(cycles * cycle.steps, least_rated_steps(e));
  if (cycle.first_step + least > kLongestRun.steps) return e.steps;
  const long after_warm_up =
      std::max({static_cast<long>(e.steps), least, leaves_lock_step(e) ? kLeastOutOfStep : 0});
  return cycle.first_step + (after_warm_up + cycle.steps - 1) / cycle.steps * cycle.steps;
}

std::optional<long> longer_run_steps(long steps, const Json& summary, const RunLimits& limits) {
  const long longer = std::min(2 * steps, limits.steps);
  // If a worker had made all of its steps (`worker_done`), a run that ended at its target was too
  // short as well: that worker had stopped learning.
  const bool ran_out_of_steps =
      summary.at("steps") >= steps || summary.value("worker_done", Json()) == true;
  const double messages =
      summary.at("messages_intra").get<double>() + summary.at("messages_inter").get<double>();
  const double expected = messages * static_cast<double>(longer) / static_cast<double>(steps);
  if (!ran_out_of_steps || longer <= steps || expected > limits.messages) return std::nullopt;
  return longer;
}

long needed_steps(const Experiment& e, const Json& summary) {
  const long steps = summary.at("steps"), least = rated_cycle(e).first_step + least_rated_steps(e);
  return least > steps ? least : 2 * steps;
}

long advised_eval_every(const Experiment& e, bool set_by_user) {
  const auto every = static_cast<long>(e.eval_every), steps = static_cast<long>(e.steps);
  const long interval =
      set_by_user ? every : std::min(every, std::max<long>(1, steps / kLeastEvaluations));
  const long cycle = e.schedule().interval_steps;
  return cycle > steps ? interval : (interval + cycle - 1) / cycle * cycle;
}

std::vector<std::string> use_long_run_network(Json& cluster, KeptChanges kept) {
  std::vector<std::string> notes;
  if (Json* shaping = find_element(cluster, "/inter/shaping"); shaping && !kept.credit)
    if (has_credit(*shaping)) notes.push_back(remove_credit(*shaping));
  if (Json* changes = find_element(cluster, kChanges); changes && !kept.changes)
    if (changes_later(*changes)) notes.push_back(keep_last_change(*changes));
  return notes;
}

std::vector<std::string> kept_change_warnings(const Cluster& cluster, KeptChanges kept) {
  std::vector<std::string> notes;
  const Shaping& shaping = cluster.inter.shaping;
  if (kept.credit && std::min(shaping.initial_bytes, shaping.depth_bytes) > 0)
    notes.push_back(fmt::format(
        "token buckets start with {} of credit: each row covers the time until its own run ends, "
        "which may be before or after the credit is used up; --set /steps=N makes runs longer",
        format_quantity(std::min(shaping.initial_bytes, shaping.depth_bytes), Dimension::bytes)));
  if (kept.changes && !cluster.inter.profile.empty() && cluster.inter.profile.back().at_s > 0)
    notes.push_back(
        fmt::format("links between nodes change until {}: each row covers the time until its own "
                    "run ends, which may be before or after that; --set /steps=N makes runs longer",
                    format_quantity(cluster.inter.profile.back().at_s, Dimension::duration)));
  return notes;
}

std::string lock_step_note(const std::vector<std::string>& names) {
  return fmt::format(
      "workers or NICs differ, so workers that wait only for their peers may leave lock step after "
      "thousands of steps, and a step may then take up to twice as long: only where such a "
      "candidate would be first are its runs made longer, up to {} steps or a million messages; "
      "elsewhere it may be slower than its row says ({})",
      kStepsOutOfLockStep, fmt::join(names, ", "));
}

std::vector<std::string> randomness_warnings(const Experiment& e) {
  std::vector<std::string> notes;
  if (const std::vector<std::string> by_chance = drawn_at_random(e.cluster); !by_chance.empty())
    notes.push_back(fmt::format(
        "{} {} drawn at random: each row is the mean of one random run; longer runs may give other "
        "means and rank the rows differently; --set /steps=1000 makes runs longer",
        fmt::join(by_chance, ", "), by_chance.size() == 1 ? "is" : "are"));
  if (const auto target = e.target())
    notes.push_back(fmt::format(
        "times to {} are those of seed {} only: with other mini-batches the times may differ by "
        "more than the ranges shown in the rows; --set /seed=N draws other mini-batches",
        target->any(), e.seed));
  return notes;
}

}  // namespace trigram
