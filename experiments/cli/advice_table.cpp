#include "experiments/cli/advice_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/text/text_table.h"

namespace trigram {
namespace {

using Lines = std::vector<std::vector<std::string>>;

/// The mark of means per step that are not those of the long run. Other tables and reports use the
/// same mark.
constexpr const char* kOff = "‡";

std::string full_name(const Candidate& c) {
  return c.settings.empty() ? c.name : c.name + " " + c.settings;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Samples per second of one worker: "0.402", "12.8", "1290".
std::string pace_text(double samples_per_s) {
  return samples_per_s < 100 ? fmt::format("{:.3g}", samples_per_s)
                             : fmt::format("{:.0f}", samples_per_s);
}

double pace_of(const Standing& s, const char* who) {
  return s.summary.at("paces").at(who).at("samples_per_s").get<double>();
}

/// True if the paces of its workers differ much, so that most samples come from workers that wait
/// for nobody.
bool is_uneven(const Standing& s) {
  return s.summary.is_object() && s.summary.value("paces", Json()).is_object();
}

/// " (0.402 to 12.8)": the paces of the slowest and the fastest worker, to follow the sum over all.
std::string paces_of(const Standing& s) {
  if (!is_uneven(s)) return "";
  return fmt::format(" ({} to {})", pace_text(pace_of(s, "slowest")),
                     pace_text(pace_of(s, "fastest")));
}

/// Samples per second if every worker had the pace of the slowest.
double at_the_slowest_pace(const Standing& s, const Contest& contest) {
  const Json& cluster = contest.cluster();
  if (!is_uneven(s)) return 1 / s.cost.time_s;
  return pace_of(s, "slowest") * cluster.at("nodes").get<double>() *
         cluster.at("workers_per_node").get<double>();
}

/// The last column of the table, which says how far a candidate is behind the first.
std::string distance(const Standing& s, const Advice& advice) {
  if (!s.not_compared.empty()) return "not compared";
  if (advice.is_undecided(s)) return advice.leads(s) ? "tie" : "not ranked";
  return &s == &advice.standings.front() || !s.reaches_target() ? "-" : percent(advice.behind(s));
}

Lines standing_lines(const Advice& advice, const Contest& contest) {
  const auto& accuracy = contest.target().accuracy;
  Lines lines = {{"", "algorithm", "settings", "trigram"}};
  if (accuracy) lines[0].push_back(fmt::format("s to {:g} %", 100 * *accuracy));
  lines[0].insert(lines[0].end(), {"step [ms]", "samples/s", "behind"});
  for (std::size_t i = 0; i < advice.standings.size(); ++i) {
    const Standing& s = advice.standings[i];
    const Candidate& c = contest.candidates()[s.candidate];
    auto& line = lines.emplace_back(std::vector<std::string>{
        s.not_compared.empty() ? fmt::format("{}", i + 1) : "!", c.name, c.settings, c.trigram});
    const bool there = s.reaches_target();
    if (accuracy) line.push_back(there ? s.cost.text() : s.not_compared.empty() ? "never" : "-");
    if (s.summary.is_null()) {
      line.insert(line.end(), {"failed", "-", "-"});
      continue;
    }
    const Pace now = pace(s.summary);
    const std::string mark = s.rates_not_compared.empty() ? "" : fmt::format(" {}", kOff);
    line.push_back(fmt::format("{:.2f}{}", 1e3 * now.step_s, mark));
    line.push_back(
        now.samples_per_s.is_number()
            ? fmt::format("{:.0f}{}{}", now.samples_per_s.get<double>(), paces_of(s), mark)
            : "-");
    line.push_back(distance(s, advice));
  }
  return lines;
}

/// Names the first candidate, and those that may be earlier because evaluations are too sparse to
/// tell.
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

std::string verdict(const Advice& advice, const Contest& contest) {
  const auto name = [&](const Standing& s) { return full_name(contest.candidates()[s.candidate]); };
  const Standing& first = advice.standings.front();
  if (!first.reaches_target())
    return contest.target().accuracy
               ? fmt::format("no candidate reaches {}\n", contest.target().text())
               : "no run of a candidate shows what its algorithm costs\n";
  const std::vector<const Standing*> level = advice.leaders();
  if (level.size() == 1) {
    const auto second = std::ranges::find_if(advice.standings, [&](const Standing& s) {
      return &s != &first && s.reaches_target() && !advice.is_undecided(s);
    });
    std::string text = best_line(advice, name);
    if (second != advice.standings.end())
      text +=
          fmt::format("runner-up: {}, {} behind\n", name(*second), percent(advice.behind(*second)));
    return text;
  }
  std::string text = contest.target().accuracy ? "tie, as far as evaluations tell: "
                                               : fmt::format("tie, within {:g} %: ", 100 * kTie);
  for (const Standing* s : level)
    text += fmt::format("{}{}{}", s == level.front() ? "" : "; ", name(*s),
                        s->cost.coarse() ? " ~" : "");
  return text + "\n";
}

/// Warns if a leader is first only because its fast workers do not wait for the slowest one. Also
/// says which candidate is first if all workers have the pace of the slowest.
std::string uneven_paces(const Advice& advice, const Contest& contest) {
  if (contest.target().accuracy || !advice.standings.front().reaches_target()) return "";
  const auto name = [&](const Standing& s) { return full_name(contest.candidates()[s.candidate]); };
  const auto slow = [&](const Standing& s) { return at_the_slowest_pace(s, contest); };
  std::string text;
  for (const Standing* s : advice.leaders())
    if (is_uneven(*s))
      text += fmt::format(
          "warning: {}: its slowest worker makes {} samples/s, its fastest {}, and none waits for "
          "the other; at the slowest one's pace, all would make {}\n",
          name(*s), pace_text(pace_of(*s, "slowest")), pace_text(pace_of(*s, "fastest")),
          pace_text(slow(*s)));
  if (text.empty()) return "";
  const auto best = std::ranges::max_element(
      advice.standings, {}, [&](const Standing& s) { return s.reaches_target() ? slow(s) : 0; });
  return text + fmt::format(
                    "at the pace of each one's slowest worker, {} is first with {} "
                    "samples/s\n",
                    name(*best), pace_text(slow(*best)));
}

/// Says whether the answer changes if NICs differ.
std::string where_nics_differ(const Advice& advice, const Contest& contest) {
  if (advice.unequal.empty()) return "";
  const auto name = [&](const UnequalNics& u) {
    return full_name(contest.candidates()[u.candidate]);
  };
  const std::string where =
      fmt::format("where {} differ by {:g} %", has_one_node(contest.cluster()) ? "ports" : "NICs",
                  100 * kNicsDiffer);
  std::string text;
  if (!advice.first_where_nics_differ().why_unknown.empty())
    text = fmt::format("warning: {}, it is not known who is first\n", where);
  else if (advice.holds_where_nics_differ()) text = where + ", it is still first\n";
  else text = fmt::format("warning: {}, {} is first\n", where, name(advice.unequal.front()));
  for (const UnequalNics& u : advice.unequal)
    if (!u.why_unknown.empty())
      text += fmt::format("not compared {}: {}: {}\n", where, name(u), u.why_unknown);
    else if (u.changes)
      text += fmt::format("warning: {}, {} takes {:+.3g} to {:+.3g} %; rely on that\n", where,
                          name(u), 100 * (u.least_s / u.equal.time_s - 1),
                          100 * (u.most_s / u.equal.time_s - 1));
  return text;
}

std::string title_of(Quantity of, const Contest& contest) {
  if (of == Quantity::step_time) return "a step's computation";
  return fmt::format("{} {}", quantity_name(of),
                     has_one_node(contest.cluster()) ? "inside the node" : "between nodes");
}

/// " (x0.079)"; empty if the described latencies are zero.
std::string factor_text(const NetworkScale& scale, double factor) {
  return scale.from_zero() ? "" : fmt::format(" (x{:.3g})", factor);
}

/// Says which candidate is first at the end of a sensitivity scan, and which candidates were not
/// compared at all points before it.
std::string first_then(const Sensitivity& o, const Advice& advice, const Contest& contest) {
  const auto name = [&](std::size_t c) { return full_name(contest.candidates()[c]); };
  const auto& [flip, unknown] = o.found;
  if (!o.why_unknown.empty())
    return fmt::format("not known: {} {}", name(advice.standings.front().candidate), o.why_unknown);
  std::string text = flip ? name(*flip->first) : "the same";
  for (const std::size_t c : unknown)
    text += fmt::format("{}{}", c == unknown.front() ? " (not compared: " : "; ", name(c));
  return unknown.empty() ? text : text + ")";
}

Lines sensitivity_lines(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  Lines lines = {{"changed", "now", "to", "first then"}};
  for (const Sensitivity& o : advice.sensitivities) {
    const NetworkScale& scale = advisor.scale(o.of);
    const auto& flip = o.found.flip;
    const double factor = flip ? flip->flips : o.limit;
    const char* way = flip ? (o.more ? "above" : "below") : (o.more ? "up to" : "down to");
    lines.push_back({title_of(o.of, contest), scale.text(scale.from_zero() ? 0 : 1),
                     fmt::format("{} {}{}", way, scale.text(factor), factor_text(scale, factor)),
                     first_then(o, advice, contest)});
  }
  return lines;
}

std::string heading(const Contest& contest) {
  const auto& accuracy = contest.target().accuracy;
  if (!accuracy)
    return fmt::format("by throughput alone: {}; --target accuracy=A asks for it\n",
                       contest.ignored());
  return fmt::format("by the time until {} is {:g} % accurate, timed as {}: {}\n",
                     contest.trained(), 100 * *accuracy, contest.times().profile,
                     contest.ignored());
}

std::string caveats_of_contest(const Contest& contest) {
  std::string text;
  for (const std::string& line : contest.warnings()) text += "warning: " + line + "\n";
  for (const std::string& line : contest.assumed()) text += "assumed: " + line + "\n";
  return text;
}

/// Says what the user can do about a run that was too short.
std::string remedy(const Standing& s) {
  if (s.summary.at("target").is_object() && s.summary.at("target").at("steps").is_number())
    return "; a higher accuracy takes more steps";
  if (s.needs_steps == 0) return "";
  return fmt::format("; --set /steps={} makes runs long enough, or other options of the algorithm",
                     s.needs_steps);
}

/// Explains the marks, and says which candidates are not compared and why.
std::string notes(const Advice& advice, const Contest& contest) {
  std::string text;
  if (std::ranges::any_of(advice.standings, [](const Standing& s) { return s.cost.coarse(); }))
    text += kCoarseLegend;
  for (const Standing& s : advice.standings)
    if (!s.not_compared.empty())
      text += fmt::format("not compared: {}: {}{}\n", full_name(contest.candidates()[s.candidate]),
                          s.not_compared, remedy(s));
  for (const Standing& s : advice.standings)
    if (!s.rates_not_compared.empty())
      text += fmt::format("{} {}: its step and samples/s are not those of the long run: it {}\n",
                          kOff, full_name(contest.candidates()[s.candidate]), s.rates_not_compared);
  for (const std::string& line : contest.left_out()) text += "left out: " + line + "\n";
  return text;
}

}  // namespace

std::string advice_table(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  constexpr std::size_t kTexts = 4;
  std::string text = heading(contest) + caveats_of_contest(contest) + "\n" +
                     aligned(standing_lines(advice, contest), kTexts) + notes(advice, contest) +
                     "\n" + verdict(advice, contest) + uneven_paces(advice, contest) +
                     where_nics_differ(advice, contest);
  if (!advice.sensitivities.empty())
    text += "\n" + aligned(sensitivity_lines(advice, contest, advisor), kTexts);
  return text +
         fmt::format("\nresults: {0}\nreport:  trigram report {0}\n", advisor.results().string());
}

}  // namespace trigram
