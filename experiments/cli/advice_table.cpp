#include "experiments/cli/advice_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "experiments/text/shell_word.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr std::size_t kTexts = 4;  // columns of tables that begin on the left

/// Marks means per step that differ from the long run. Other tables and reports use the same mark.
constexpr const char *kNotLongRun = "‡", *kMark = " ‡";

/// If at least this share of a step is computation, a better network hardly shortens it.
constexpr double kBoundByComputation = 0.9;

std::string candidate_name(const Contest& contest, std::size_t candidate) {
  return contest.candidates()[candidate].full_name();
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Samples per second of one worker: "0.402", "12.8", "1290".
std::string pace_text(double samples_per_s) {
  return samples_per_s < 100 ? fmt::format("{:.3g}", samples_per_s)
                             : fmt::format("{:.0f}", samples_per_s);
}

/// Samples per second of the "slowest" or the "fastest" worker.
double worker_pace(const Standing& s, const char* worker) {
  return s.goodput * s.summary.at("paces").at(worker).at("samples_per_s").get<double>();
}

/// True if the paces of the workers differ much, so that most samples come from workers that do not
/// wait for the others.
bool is_uneven(const Standing& s) {
  return s.summary.is_object() && s.summary.value("paces", Json()).is_object();
}

/// The range of the workers' paces, " (0.402 to 12.8)", which follows the sum over all workers;
/// empty if they do not differ much.
std::string pace_range(const Standing& s) {
  if (!is_uneven(s)) return "";
  return fmt::format(" ({} to {})", pace_text(worker_pace(s, "slowest")),
                     pace_text(worker_pace(s, "fastest")));
}

/// Samples per second of all workers if each had the pace of the slowest.
double at_the_slowest_pace(const Standing& s) {
  const double sum = s.summary.at("samples_per_s").get<double>();
  return s.summary.value("samples_per_s_at_slowest", sum) / sum * s.goodput *
         pace(s.summary).samples_per_s.get<double>();
}

/// The time by which a run had not reached the target, such as "> 32.3".
std::string not_reached(const Standing& s) {
  return fmt::format("> {:.3g}", s.summary.at("time_s").get<double>());
}

/// The last column of the table, which says how far a candidate is behind the first.
std::string behind_text(const Standing& s, const Advice& advice) {
  if (!s.why_not_compared.empty()) return "not compared";
  if (s.over_budget) return "over budget";
  if (advice.is_undecided(s)) return advice.leads(s) ? "tie" : "not ranked";
  return &s == &advice.standings.front() || !s.reaches_target() ? "-" : percent(advice.behind(s));
}

Lines standing_lines(const Advice& advice, const Contest& contest) {
  const auto& level = contest.target().level;
  Lines lines = {{"", "algorithm", "settings", "trigram"}};
  if (level) lines[0].push_back("s to " + level->text());
  lines[0].push_back("step [ms]");
  const bool fails = !contest.failures().none();
  if (fails) lines[0].push_back("goodput");
  lines[0].push_back("samples/s");
  const bool priced =
      std::ranges::any_of(advice.standings, [](const Standing& s) { return s.usd.has_value(); });
  if (priced) lines[0].push_back(money_title(contest.target()));
  lines[0].push_back("behind");
  for (std::size_t i = 0; i < advice.standings.size(); ++i) {
    const Standing& s = advice.standings[i];
    const Candidate& c = contest.candidates()[s.candidate];
    auto& line = lines.emplace_back(
        std::vector<std::string>{s.why_not_compared.empty() ? fmt::format("{}", i + 1) : "!",
                                 c.name, c.settings, c.trigram});
    if (level)
      line.push_back(s.reaches_target() ? s.cost.text()
                     : s.over_budget    ? cost(contest.target(), s.summary, s.goodput).text()
                     : s.is_known()     ? not_reached(s)
                                        : "-");
    if (s.summary.is_null()) {
      line.push_back("failed");
      line.resize(lines[0].size(), "-");
      continue;
    }
    const Pace long_run = pace(s.summary);
    const char* const mark = s.why_rates_not_compared.empty() ? "" : kMark;
    line.push_back(fmt::format("{:.2f}{}", 1e3 * long_run.step_s, mark));
    if (fails) line.push_back(percent(s.goodput));
    line.push_back(long_run.samples_per_s.is_number()
                       ? fmt::format("{:.0f}{}{}", s.goodput * long_run.samples_per_s.get<double>(),
                                     pace_range(s), mark)
                       : "-");
    if (priced) line.push_back(money_text(s, contest.target()));
    line.push_back(behind_text(s, advice));
  }
  return lines;
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

/// Says how much of a step is computation, which no network shortens: of the first candidate's, and
/// of the first one's that averages gradients in full precision.
std::string computation_text(const Advice& advice, const Contest& contest) {
  const Standing& first = advice.standings.front();
  const auto share = [](const Standing& s) {
    return s.summary.is_object() ? s.summary.value("compute_utilisation", Json()) : Json();
  };
  if (!first.reaches_target() || !share(first).is_number()) return "";
  const double computing = share(first);
  std::string text = fmt::format("computation is {} of the step of {}", percent(computing),
                                 candidate_name(contest, first.candidate));
  const auto baseline = std::ranges::find_if(advice.standings, [&](const Standing& s) {
    return contest.candidates()[s.candidate].algorithm == "gradient_allreduce" &&
           share(s).is_number();
  });
  if (baseline != advice.standings.end() && &*baseline != &first)
    text += fmt::format(", and {} of that of {}", percent(share(*baseline).get<double>()),
                        candidate_name(contest, baseline->candidate));
  // Where messages slow down computation, a faster network shortens computation, too.
  const double slowdown =
      contest.cluster().value(Json::json_pointer("/accelerator/overlap_slowdown"), 1.0);
  if (computing >= kBoundByComputation && slowdown <= 1)
    text +=
        fmt::format(": a faster network shortens the first by at most {}", percent(1 - computing));
  return text + "\n";
}

/// Warns if a leader may be first only because its fast workers do not wait for the slowest worker,
/// and then also says which candidate is first if all workers have the pace of the slowest.
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

/// Says whether the answer changes if NICs differ.
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

std::string heading(const Contest& contest) {
  const auto& level = contest.target().level;
  if (!level)
    return fmt::format(
        "by {}: {}; --target accuracy=A asks for it\n",
        contest.target().budget_usd ? "the samples that a dollar buys" : "throughput alone",
        contest.ignored());
  const std::string reached = level->of == TargetLevel::Of::accuracy
                                  ? fmt::format("is {} accurate", level->text())
                                  : fmt::format("has a held-out loss of {:g}", level->level);
  return fmt::format("by the time until {} {}, timed as {}: {}\n", contest.trained(), reached,
                     contest.times().profile, contest.ignored());
}

std::string caveats_of_contest(const Contest& contest) {
  std::string text;
  for (const std::string& line : contest.warnings()) text += "warning: " + line + "\n";
  for (const std::string& line : contest.assumed()) text += "assumed: " + line + "\n";
  return text;
}

/// Tells the user how to make the next run long enough.
std::string remedy(const Standing& s, const Contest& contest) {
  if (s.summary.at("target").is_object() && s.summary.at("target").at("steps").is_number())
    return fmt::format("; {} takes more steps", contest.target().level->harder());
  if (s.needs_steps == 0) return "";
  return fmt::format("; --set /steps={} makes runs long enough, or other options of the algorithm",
                     s.needs_steps);
}

/// Explains the marks, and says which candidates are not compared and why.
std::string notes(const Advice& advice, const Contest& contest) {
  std::string text;
  if (std::ranges::any_of(advice.standings, [](const Standing& s) { return s.cost.is_coarse(); }))
    text += coarse_legend(*contest.target().level);
  for (const Standing& s : advice.standings)
    if (!s.why_not_compared.empty())
      text += fmt::format("not compared: {}: {}{}\n", candidate_name(contest, s.candidate),
                          s.why_not_compared, remedy(s, contest));
  for (const Standing& s : advice.standings)
    if (!s.why_rates_not_compared.empty())
      text +=
          fmt::format("{} {}: its step and samples/s are not those of the long run: it {}\n",
                      kNotLongRun, candidate_name(contest, s.candidate), s.why_rates_not_compared);
  for (const TunedBucket& t : advice.tuned) text += "tuned: " + t.text() + "\n";
  for (const std::string& line : contest.left_out()) text += "left out: " + line + "\n";
  return text;
}

}  // namespace

std::vector<std::string> warnings_of_answer(const Advice& advice, const Contest& contest) {
  std::vector<std::string> warnings;
  const std::string prefix = "warning: ";
  std::istringstream lines(uneven_pace_warnings(advice, contest) +
                           unequal_nics_text(advice, contest));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prefix)) warnings.push_back(line.substr(prefix.size()));
  return warnings;
}

std::string ranking_text(const Advice& advice, const Contest& contest) {
  return heading(contest) + caveats_of_contest(contest) + "\n" +
         aligned(standing_lines(advice, contest), kTexts) + notes(advice, contest) + "\n" +
         verdict(advice, contest) + computation_text(advice, contest) +
         uneven_pace_warnings(advice, contest);
}

std::string sensitivity_text(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  std::string text = unequal_nics_text(advice, contest);
  if (!advice.sensitivities.empty())
    text += "\n" + aligned(sensitivity_lines(advice, contest, advisor), kTexts);
  const std::string folder = advisor.results().string();
  text += "\n" + results_lines(folder);
  const auto& standings = advice.standings;
  // Runs to a target would train again to be explained.
  if (!contest.target().level && standings.size() > 1 && standings[1].is_known() &&
      advice.behind(standings[1]) > 0)
    text += fmt::format("why the first two differ: trigram why {} {}\n",
                        shell_word(folder + "/" + standings[0].id),
                        shell_word(folder + "/" + standings[1].id));
  return text;
}

}  // namespace trigram
