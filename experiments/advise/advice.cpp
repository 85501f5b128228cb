#include "experiments/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/advise/target.h"

namespace trigram {
namespace {

constexpr std::size_t kMostContenders = 4;
constexpr double kFurthestBehind = 0.5;

}  // namespace

std::vector<std::size_t> contenders(const std::vector<Standing>& standings) {
  std::vector<std::size_t> found;
  for (const Standing& s : standings)
    if (found.size() < kMostContenders &&
        s.cost.time_s <= (1 + kFurthestBehind) * standings.front().cost.time_s)
      found.push_back(s.candidate);
  return found;
}

const char* quantity_name(Quantity quantity) {
  if (quantity == Quantity::step_time) return "step_time";
  return quantity == Quantity::bandwidth ? "bandwidth" : "latency";
}

std::string TunedBucket::text() const {
  if (bucket.is_null()) return candidate + ": no size of buckets costs less";
  return fmt::format("{}: with bucket={} it costs {:.2g} % less", candidate,
                     bucket.get<std::string>(), 100 * saved);
}

void Standing::take_cost(const Target& target) {
  usd = dollars(target, summary, goodput);
  over_budget = target.level && target.budget_usd && usd && *usd > *target.budget_usd;
  cost = over_budget ? never_reached() : trigram::cost(target, summary, goodput);
}

std::string money_text(const Standing& s, const Target& target) {
  if (!s.usd) return "-";
  if (!target.level && target.budget_usd) return fmt::format("{:.4g}", *target.budget_usd / *s.usd);
  return fmt::format("{:.3g}", *s.usd);
}

std::string money_title(const Target& target) {
  if (target.level) return "$ to " + target.level->text();
  return target.budget_usd ? fmt::format("Msamples for ${:g}", *target.budget_usd) : "$/Msamples";
}

void UnequalNics::add(const Standing& standing) {
  const TimeToTarget& draw = standing.cost;
  const double largest_factor = 1 + kTie + kNicDifference;
  if (!standing.is_known()) {
    why_unknown = standing.why_unknown();
    return;
  }
  least_s = std::min(least_s, draw.time_s);
  most_s = std::max(most_s, draw.time_s);
  mean.after_s += draw.after_s / kNicDraws;
  mean.time_s += draw.time_s / kNicDraws;
  is_sensitive |=
      draw.after_s > largest_factor * equal.time_s || equal.after_s > largest_factor * draw.time_s;
}

std::vector<const Standing*> Advice::leaders() const {
  std::vector<const Standing*> found;
  double first_not_coarse_s = never_reached().time_s;
  for (const Standing& s : standings) {
    if (!s.reaches_target() || !s.cost.may_precede(standings.front().cost)) continue;
    found.push_back(&s);
    if (!s.cost.is_coarse()) first_not_coarse_s = std::min(first_not_coarse_s, s.cost.time_s);
  }
  std::erase_if(found, [first_not_coarse_s](const Standing* s) {
    return s->cost.is_coarse() && s->cost.time_s > (1 + kTie) * first_not_coarse_s;
  });
  return found;
}

bool Advice::leads(const Standing& standing) const {
  return std::ranges::any_of(leaders(), [&](const Standing* s) { return s == &standing; });
}

double Advice::behind(const Standing& standing) const {
  return standing.cost.time_s / standings.front().cost.time_s - 1;
}

bool Advice::is_undecided(const Standing& standing) const {
  const bool exact = standing.cost.after_s == standing.cost.time_s;
  if (exact || !standing.reaches_target()) return false;
  if (&standing == &standings.front()) return leaders().size() > 1;
  return standing.cost.may_precede(standings.front().cost);
}

const UnequalNics& Advice::winner_with_unequal_nics() const {
  return *std::ranges::find(unequal, standings.front().candidate, &UnequalNics::candidate);
}

bool Advice::holds_with_unequal_nics() const {
  return winner_with_unequal_nics().mean.may_precede(unequal.front().mean);
}

}  // namespace trigram
