#include "experiments/cli/advice_output.h"

#include <cmath>

namespace trigram {
namespace {

Json standing_json(const Standing& s, const Advice& advice, const Contest& contest) {
  const Candidate& c = contest.candidates()[s.candidate];
  const bool reached = s.reaches_target();
  Json j = {{"algorithm", c.name},
            {"settings", c.coordinates},
            {"trigram", c.trigram},
            {"run", s.id},
            {"step_s", nullptr},
            {"samples_per_s", nullptr},
            {"paces", s.summary.is_object() ? s.summary.value("paces", Json()) : Json()},
            {"compute_utilisation",
             s.summary.is_object() ? s.summary.value("compute_utilisation", Json()) : Json()},
            {"tied", advice.leads(s) && advice.leaders().size() > 1},
            {"behind", reached && !advice.is_undecided(s) ? Json(advice.behind(s)) : Json()},
            {"not_compared", s.why_not_compared.empty() ? Json() : Json(s.why_not_compared)},
            {"needs_steps", s.needs_steps > 0 ? Json(s.needs_steps) : Json()},
            {"rates_not_compared",
             s.why_rates_not_compared.empty() ? Json() : Json(s.why_rates_not_compared)}};
  if (s.usd) j[contest.target().level ? "usd_to_target" : "usd_per_million_samples"] = *s.usd;
  if (contest.target().budget_usd) j["over_budget"] = s.over_budget;
  if (const auto& level = contest.target().level) {
    j["time_to_" + level->name() + "_s"] = reached ? Json(s.cost.time_s) : Json();
    j["after_s"] = reached ? Json(s.cost.after_s) : Json();
    j["coarse"] = reached && s.cost.is_coarse();
  }
  if (s.summary.is_null()) return j;
  const Pace long_run = pace(s.summary);
  j["step_s"] = long_run.step_s;
  j["samples_per_s"] = long_run.samples_per_s;
  if (contest.failures().none()) return j;
  if (long_run.samples_per_s.is_number())
    j["samples_per_s"] = s.goodput * long_run.samples_per_s.get<double>();
  j["goodput"] = s.goodput;
  j["carries_on"] = s.carries_on;
  j["checkpoint_every"] =
      s.carries_on
          ? Json()
          : Json(contest.failures().interval(long_run.step_s, contest.cluster().at("nodes")));
  return j;
}

Json sensitivity_json(const Sensitivity& o, const Contest& contest, const Advisor& advisor) {
  const NetworkScale& scale = advisor.scale(o.quantity);
  const std::string unit = o.quantity == Quantity::bandwidth ? "_Bps" : "_s";
  const auto put = [&](Json& j, const std::string& key, double factor) {
    if (!scale.all_zero()) j[key + "_factor"] = factor;
    j[key + unit] = scale.value(factor);
  };
  const auto settings = [&](std::size_t c) { return contest.candidates()[c].coordinates; };
  Json j = {{"quantity", quantity_name(o.quantity)},
            {"direction", o.increases ? "up" : "down"},
            {"first", nullptr},
            {"not_known", o.why_unknown.empty() ? Json() : Json(o.why_unknown)},
            {"not_compared", Json::array()}};
  for (const std::size_t c : o.search.unknown) j["not_compared"].push_back(settings(c));
  put(j, "limit", o.limit);
  const auto& flip = o.search.flip;
  if (!flip) return j;
  put(j, "holds", flip->holds);
  // Without a new first candidate, the winner's cost is unknown at `flips`.
  put(j, flip->new_first ? "flips" : "unknown", flip->flips);
  if (flip->new_first) j["first"] = settings(*flip->new_first);
  return j;
}

/// Costs as relative changes from the costs with equal NICs; null for a candidate that never
/// reaches the target.
Json unequal_json(const UnequalNics& u, const Contest& contest) {
  const bool known = u.why_unknown.empty();
  const auto change = [&](double cost_s) {
    return known && std::isfinite(cost_s) ? Json(cost_s / u.equal.time_s - 1) : Json();
  };
  return {{"settings", contest.candidates()[u.candidate].coordinates},
          {"bandwidth_jitter", kNicDifference},
          {"least_more", change(u.least_s)},
          {"most_more", change(u.most_s)},
          {"changes", u.is_sensitive},
          {"not_compared", known ? Json() : Json(u.why_unknown)}};
}

}  // namespace

Json advice_json(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  const auto& budget = contest.target().budget_usd;
  Json j = {{"question", {{"cluster", contest.cluster_name()}, {"profile", contest.profile()}}},
            {"target", contest.target().text()},
            {"budget_usd", budget ? Json(*budget) : Json()},
            {"ignored", contest.ignored()},
            {"cluster", contest.cluster()},
            {"warnings", contest.warnings()},
            {"assumed", contest.assumed()},
            {"tie", advice.leaders().size() > 1},
            {"candidates", Json::array()},
            {"left_out", contest.left_out()},
            {"tuned", Json::array()},
            {"where_nics_differ", Json::array()},
            {"flips", Json::array()},
            {"ranking_only", advisor.ranking_only()},
            {"answer_warnings", warnings_of_answer(advice, contest)},
            {"results", advisor.results().string()}};
  for (const TunedBucket& t : advice.tuned)
    j["tuned"].push_back({{"candidate", t.candidate}, {"bucket", t.bucket}, {"saved", t.saved}});
  for (const Standing& s : advice.standings)
    j["candidates"].push_back(standing_json(s, advice, contest));
  for (const UnequalNics& u : advice.unequal)
    j["where_nics_differ"].push_back(unequal_json(u, contest));
  for (const Sensitivity& o : advice.sensitivities)
    j["flips"].push_back(sensitivity_json(o, contest, advisor));
  return j;
}

}  // namespace trigram
