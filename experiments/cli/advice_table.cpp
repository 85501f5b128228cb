#include "experiments/cli/advice_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/cli/advice_next_commands.h"
#include "experiments/cli/advice_sentences.h"
#include "experiments/text/shell_word.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr std::size_t kTexts = 4;  // columns of tables that begin on the left

/// Marks means per step that differ from the long run. Other tables and reports use the same mark.
constexpr const char *kNotLongRun = "‡", *kMark = " ‡";

/// The range of the workers' paces, " (0.402 to 12.8)", which follows the sum over all workers;
/// empty if they do not differ much.
std::string pace_range(const Standing& s) {
  if (!is_uneven(s)) return "";
  return fmt::format(" ({} to {})", pace_text(worker_pace(s, "slowest")),
                     pace_text(worker_pace(s, "fastest")));
}

/// The time by which a run had not reached the target, such as "> 32.3".
std::string not_reached(const Standing& s) {
  return fmt::format("> {:.3g}", s.summary.at("time_s").get<double>());
}

/// The number of a candidate in the order, if it has a place in it.
std::string rank_text(const Standing& s, std::size_t place) {
  if (!s.why_not_compared.empty()) return "!";
  return s.reaches_target() ? fmt::format("{}", place) : "-";
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
        std::vector<std::string>{rank_text(s, i + 1), c.name, c.settings, c.trigram});
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
std::string how_to_lengthen(const Standing& s, const Contest& contest) {
  if (s.summary.at("target").is_object() && s.summary.at("target").at("steps").is_number())
    return fmt::format("; {} takes more steps", contest.target().level->harder());
  if (s.needs_steps == 0) return "";
  return fmt::format("; --set /steps={} makes runs long enough, or other options of the algorithm",
                     s.needs_steps);
}

/// Says that some models that workers had were not evaluated, if that is so.
std::string between_evaluations(const Contest& contest) {
  const auto skips = [](const Candidate& c) { return c.eval_every > c.least_eval_every; };
  if (!contest.target().level || std::ranges::none_of(contest.candidates(), skips)) return "";
  return fmt::format(
      "not all models are evaluated: the {} may have been reached and lost again in between, and "
      "the order may be another with --set /eval_every=1\n",
      contest.target().level->name());
}

/// Explains the marks, and says which candidates are not compared and why.
std::string notes(const Advice& advice, const Contest& contest) {
  std::string text;
  if (std::ranges::any_of(advice.standings, [](const Standing& s) { return s.cost.is_coarse(); }))
    text += coarse_legend(*contest.target().level);
  text += between_evaluations(contest);
  for (const Standing& s : advice.standings)
    if (!s.why_not_compared.empty())
      text += fmt::format("not compared: {}: {}{}\n", candidate_name(contest, s.candidate),
                          s.why_not_compared, how_to_lengthen(s, contest));
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

std::string ranking_text(const Advice& advice, const Contest& contest) {
  return heading(contest) + caveats_of_contest(contest) + "\n" +
         aligned(standing_lines(advice, contest), kTexts) + notes(advice, contest) + "\n" +
         verdict(advice, contest) + selection_text(contest) + computation_text(advice, contest) +
         uneven_pace_warnings(advice, contest);
}

std::string sensitivity_text(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  std::string text = unequal_nics_text(advice, contest);
  if (!advice.sensitivities.empty())
    text += "\n" + aligned(sensitivity_lines(advice, contest, advisor), kTexts);
  const std::string folder = advisor.results().string();
  text += "\n";
  return text + results_lines(folder) + next_commands(advice, contest, folder);
}

}  // namespace trigram
