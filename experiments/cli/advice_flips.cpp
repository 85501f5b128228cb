#include <fmt/format.h>

#include "experiments/cli/advice_output.h"

namespace trigram {
namespace {

std::string quantity_title(Quantity quantity, const Contest& contest) {
  if (quantity == Quantity::step_time) return "a step's computation";
  return fmt::format("{} {}", quantity_name(quantity),
                     has_one_node(contest.cluster()) ? "inside the node" : "between nodes");
}

/// " (x0.079)"; empty if the described latencies are zero.
std::string factor_text(const NetworkScale& scale, double factor) {
  return scale.all_zero() ? "" : fmt::format(" (x{:.3g})", factor);
}

/// Says which candidate is first at the end of a search for a flip, and which candidates were not
/// compared at some factor before it.
std::string first_after_change(const Sensitivity& o, const Advice& advice, const Contest& contest) {
  const auto name = [&](std::size_t c) { return contest.candidates()[c].full_name(); };
  const auto& [flip, unknown] = o.search;
  if (!o.why_unknown.empty())
    return fmt::format("not known: {} {}", name(advice.standings.front().candidate), o.why_unknown);
  std::string text = flip ? name(*flip->new_first) : "the same";
  for (const std::size_t c : unknown)
    text += fmt::format("{}{}", c == unknown.front() ? " (not compared: " : "; ", name(c));
  return unknown.empty() ? text : text + ")";
}

}  // namespace

std::vector<std::vector<std::string>> sensitivity_lines(const Advice& advice,
                                                        const Contest& contest,
                                                        const Advisor& advisor) {
  std::vector<std::vector<std::string>> lines = {{"changed", "now", "to", "first then"}};
  for (const Sensitivity& o : advice.sensitivities) {
    const NetworkScale& scale = advisor.scale(o.quantity);
    const auto& flip = o.search.flip;
    const double factor = flip ? flip->flips : o.limit;
    const char* direction =
        flip ? (o.increases ? "above" : "below") : (o.increases ? "up to" : "down to");
    lines.push_back(
        {quantity_title(o.quantity, contest), scale.text(scale.all_zero() ? 0 : 1),
         fmt::format("{} {}{}", direction, scale.text(factor), factor_text(scale, factor)),
         first_after_change(o, advice, contest)});
  }
  return lines;
}

}  // namespace trigram
