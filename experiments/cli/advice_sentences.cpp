#include "experiments/cli/advice_sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "experiments/cli/advice_output.h"

namespace trigram {
namespace {

/// If at least this share of a step is computation, a better network hardly shortens it.
constexpr double kBoundByComputation = 0.9;

/// Shares below this would be printed as 0.0 %.
constexpr double kHardly = 5e-4;

/// Samples per second of all workers if each had the pace of the slowest.
double at_the_slowest_pace(const Standing& s) {
  const double sum = s.summary.at("samples_per_s").get<double>();
  return s.summary.value("samples_per_s_at_slowest", sum) / sum * s.goodput *
         pace(s.summary).samples_per_s.get<double>();
}

/// Names the first candidate, and the candidates that may be earlier because evaluations are too
/// sparse to tell.
template <class Name>
std::string best_line(const Advice& advice, const Name& name) {
  std::vector<std::string> open;
  for (const Standing& s : advice.standings)
    if (s.reaches_target() && advice.is_undecided(s) && !advice.leads(s))
      open.push_back(name(s) + " ~");
  const std::string first = name(advice.standings.front());
  if (open.empty()) return fmt::format("best: {}\n", first);
  return fmt::format(
      "best as far as evaluations tell: {}; may be earlier: {}; --set /eval_every=1 tells\n", first,
      fmt::join(open, ", "));
}

}  // namespace

std::string candidate_name(const Contest& contest, std::size_t candidate) {
  return contest.candidates()[candidate].full_name();
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", std::abs(share) < kHardly ? 0.0 : 100 * share);  // not "-0.0 %"
}

std::string pace_text(double samples_per_s) {
  return samples_per_s < 100 ? fmt::format("{:.3g}", samples_per_s)
                             : fmt::format("{:.0f}", samples_per_s);
}

double worker_pace(const Standing& s, const char* worker) {
  return s.goodput * s.summary.at("paces").at(worker).at("samples_per_s").get<double>();
}

bool is_uneven(const Standing& s) {
  return s.summary.is_object() && s.summary.value("paces", Json()).is_object();
}

std::string verdict(const Advice& advice, const Contest& contest) {
  const auto name = [&](const Standing& s) { return candidate_name(contest, s.candidate); };
  const Standing& first = advice.standings.front();
  if (!first.reaches_target())
    return contest.target().level
               ? fmt::format("no candidate reaches {}{}\n", contest.target().text(),
                             contest.target().budget_usd ? " within the budget" : "")
               : "no run of a candidate shows what its algorithm costs\n";
  const std::vector<const Standing*> leaders = advice.leaders();
  if (leaders.size() == 1) {
    const auto second = std::ranges::find_if(advice.standings, [&](const Standing& s) {
      return &s != &first && s.reaches_target() && !advice.is_undecided(s);
    });
    std::string text = best_line(advice, name);
    if (second != advice.standings.end())
      text +=
          fmt::format("runner-up: {}, {} behind\n", name(*second), percent(advice.behind(*second)));
    return text;
  }
  std::string text = contest.target().level ? "tie, as far as evaluations tell: "
                                            : fmt::format("tie, within {:g} %: ", 100 * kTie);
  for (const Standing* s : leaders)
    text += fmt::format("{}{}{}", s == leaders.front() ? "" : "; ", name(*s),
                        s->cost.is_coarse() ? " ~" : "");
  return text + "\n";
}

std::string selection_text(const Contest& contest) {
  if (!contest.is_selection()) return "";
  const std::size_t compared = contest.candidates().size();
  return fmt::format("only {} asked for {} compared\n",
                     compared == 1 ? "the candidate" : fmt::format("the {} candidates", compared),
                     compared == 1 ? "was" : "were");
}

/// The share of the time in which workers compute; null if it is unknown.
Json computing_share(const Standing& s) {
  return s.summary.is_object() ? s.summary.value("compute_utilisation", Json()) : Json();
}

const Standing* baseline_of(const Advice& advice, const Contest& contest) {
  const auto found = std::ranges::find_if(advice.standings, [&](const Standing& s) {
    return contest.candidates()[s.candidate].algorithm == "gradient_allreduce" &&
           computing_share(s).is_number();
  });
  return found == advice.standings.end() ? nullptr : &*found;
}

std::string computation_text(const Advice& advice, const Contest& contest) {
  const Standing& first = advice.standings.front();
  if (!first.reaches_target() || !computing_share(first).is_number()) return "";
  const double computing = computing_share(first);
  std::string text = fmt::format("workers compute for {} of the step of {}", percent(computing),
                                 candidate_name(contest, first.candidate));
  if (const Standing* baseline = baseline_of(advice, contest); baseline && baseline != &first)
    text +=
        fmt::format(", and for {} of that of {}", percent(computing_share(*baseline).get<double>()),
                    candidate_name(contest, baseline->candidate));
  // Where messages slow down computation, a faster network shortens computation, too.
  const double slowdown =
      contest.cluster().value(Json::json_pointer("/accelerator/overlap_slowdown"), 1.0);
  if (computing >= kBoundByComputation && slowdown <= 1)
    text += 1 - computing < kHardly
                ? ": a faster network hardly shortens the first"
                : fmt::format(": a faster network shortens the first by at most {}",
                              percent(1 - computing));
  return text + "\n";
}

std::string uneven_pace_warnings(const Advice& advice, const Contest& contest) {
  const Target& target = contest.target();
  if (target.level || target.budget_usd || !advice.standings.front().reaches_target()) return "";
  const auto name = [&](const Standing& s) { return candidate_name(contest, s.candidate); };
  const auto slow = [&](const Standing& s) { return at_the_slowest_pace(s); };
  std::string text;
  for (const Standing* s : advice.leaders())
    if (is_uneven(*s))
      text += fmt::format(
          "warning: {}: its slowest worker makes {} samples/s, its fastest {}, and none waits for "
          "the other; at the slowest one's pace, all would make {}\n",
          name(*s), pace_text(worker_pace(*s, "slowest")), pace_text(worker_pace(*s, "fastest")),
          pace_text(slow(*s)));
  if (text.empty()) return "";
  const auto best = std::ranges::max_element(
      advice.standings, {}, [&](const Standing& s) { return s.reaches_target() ? slow(s) : 0; });
  return text + fmt::format(
                    "at the pace of each one's slowest worker, {} is first with {} "
                    "samples/s\n",
                    name(*best), pace_text(slow(*best)));
}

std::string unequal_nics_text(const Advice& advice, const Contest& contest) {
  if (advice.unequal.empty()) return "";
  const auto name = [&](const UnequalNics& u) { return candidate_name(contest, u.candidate); };
  const char* const links = has_one_node(contest.cluster()) ? "ports" : "NICs";
  const std::string where = fmt::format("where {} differ by {:g} %", links, 100 * kNicDifference);
  std::string text;
  if (!advice.winner_with_unequal_nics().why_unknown.empty())
    text = fmt::format("warning: {}, it is not known who is first\n", where);
  else if (advice.holds_with_unequal_nics()) text = where + ", it is still first\n";
  else text = fmt::format("warning: {}, {} is first\n", where, name(advice.unequal.front()));
  for (const UnequalNics& u : advice.unequal)
    if (!u.why_unknown.empty())
      text += fmt::format("not compared {}: {}: {}\n", where, name(u), u.why_unknown);
    else if (u.is_sensitive)
      text += fmt::format(
          "warning: {}, {} takes {:+.3g} to {:+.3g} %; {} of a real cluster are not equal\n", where,
          name(u), 100 * (u.least_s / u.equal.time_s - 1), 100 * (u.most_s / u.equal.time_s - 1),
          links);
  return text;
}

std::vector<std::string> warnings_of_answer(const Advice& advice, const Contest& contest) {
  std::vector<std::string> warnings;
  const std::string prefix = "warning: ";
  std::istringstream lines(uneven_pace_warnings(advice, contest) +
                           unequal_nics_text(advice, contest));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prefix)) warnings.push_back(line.substr(prefix.size()));
  return warnings;
}

}  // namespace trigram
