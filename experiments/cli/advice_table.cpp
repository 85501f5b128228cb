#include "experiments/cli/advice_table.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/cli/text_table.h"

namespace trigram {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string full_name(const Candidate& c) {
  return c.settings.empty() ? c.name : c.name + " " + c.settings;
}

/// By which share more a candidate costs than the best one.
double behind(const Standing& standing, const Advice& advice) {
  return standing.cost_s / advice.standings.front().cost_s - 1;
}

/// How many are level with the first.
std::size_t tied(const Advice& advice) {
  std::size_t count = 0;
  while (count < advice.standings.size() && behind(advice.standings[count], advice) < kTie) ++count;
  return count;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Lines standing_lines(const Advice& advice, const Contest& contest) {
  const auto& accuracy = contest.target().accuracy;
  Lines lines = {{"", "algorithm", "settings", "trigram"}};
  if (accuracy) lines[0].push_back(fmt::format("s to {:g} %", 100 * *accuracy));
  lines[0].insert(lines[0].end(), {"step [ms]", "samples/s", "behind"});
  for (std::size_t i = 0; i < advice.standings.size(); ++i) {
    const Standing& s = advice.standings[i];
    const Candidate& c = contest.candidates()[s.candidate];
    auto& line = lines.emplace_back(
        std::vector<std::string>{fmt::format("{}", i + 1), c.name, c.settings, c.trigram});
    const bool there = std::isfinite(s.cost_s);
    if (accuracy) line.push_back(there ? fmt::format("{:.4g}", s.cost_s) : "never");
    if (s.summary.is_null()) {
      line.insert(line.end(), {"failed", "-", "-"});
      continue;
    }
    line.push_back(fmt::format("{:.2f}", 1e3 * s.summary.at("step_s").get<double>()));
    const Json& rate = s.summary.at("samples_per_s");
    line.push_back(rate.is_number() ? fmt::format("{:.0f}", rate.get<double>()) : "-");
    line.push_back(i == 0 || !there ? "-" : percent(behind(s, advice)));
  }
  return lines;
}

std::string verdict(const Advice& advice, const Contest& contest) {
  const auto name = [&](std::size_t place) {
    return full_name(contest.candidates()[advice.standings[place].candidate]);
  };
  const std::size_t level = tied(advice);
  if (!std::isfinite(advice.standings.front().cost_s))
    return fmt::format("no candidate reaches {}\n", contest.target().text());
  if (advice.standings.size() == 1 || !std::isfinite(advice.standings[1].cost_s))
    return fmt::format("best: {}\n", name(0));
  const std::string margin = percent(behind(advice.standings[1], advice));
  if (level == 1)
    return fmt::format("best: {}\nrunner-up: {}, {} behind\n", name(0), name(1), margin);
  std::string text = fmt::format("tie, within {:g} %: {}", 100 * kTie, name(0));
  for (std::size_t i = 1; i < level; ++i) text += "; " + name(i);
  return text + "\n";
}

const char* quantity_name(Dimension of) {
  return of == Dimension::bandwidth ? "bandwidth" : "latency";
}

/// " (x0.079)", but for latencies that are none now.
std::string factor_text(const NetworkScale& scale, double factor) {
  return scale.from_zero() ? "" : fmt::format(" (x{:.3g})", factor);
}

Lines outlook_lines(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  Lines lines = {{"between nodes", "now", "changed", "first then"}};
  for (const Outlook& o : advice.outlooks) {
    const NetworkScale& scale = advisor.scale(o.of);
    const double factor = o.flip ? o.flip->flips : o.limit;
    const char* way = o.flip ? (o.more ? "above" : "below") : (o.more ? "up to" : "down to");
    lines.push_back({quantity_name(o.of), scale.text(scale.from_zero() ? 0 : 1),
                     fmt::format("{} {}{}", way, scale.text(factor), factor_text(scale, factor)),
                     o.flip ? full_name(contest.candidates()[o.flip->first]) : "the same"});
  }
  return lines;
}

Json standing_json(const Standing& s, const Advice& advice, const Contest& contest) {
  const Candidate& c = contest.candidates()[s.candidate];
  const bool there = std::isfinite(s.cost_s);
  Json j = {{"algorithm", c.name},
            {"settings", c.coordinates},
            {"trigram", c.trigram},
            {"run", s.id},
            {"step_s", nullptr},
            {"samples_per_s", nullptr},
            {"behind", there ? Json(behind(s, advice)) : Json()}};
  if (contest.target().accuracy) j["time_to_accuracy_s"] = there ? Json(s.cost_s) : Json();
  if (!s.summary.is_null())
    for (const char* key : {"step_s", "samples_per_s"}) j[key] = s.summary.at(key);
  return j;
}

Json outlook_json(const Outlook& o, const Contest& contest, const Advisor& advisor) {
  const NetworkScale& scale = advisor.scale(o.of);
  const std::string unit = o.of == Dimension::bandwidth ? "_Bps" : "_s";
  const auto put = [&](Json& j, const std::string& key, double factor) {
    if (!scale.from_zero()) j[key + "_factor"] = factor;
    j[key + unit] = scale.value(factor);
  };
  Json j = {
      {"quantity", quantity_name(o.of)}, {"direction", o.more ? "up" : "down"}, {"first", nullptr}};
  put(j, "limit", o.limit);
  if (!o.flip) return j;
  put(j, "holds", o.flip->holds);
  put(j, "flips", o.flip->flips);
  j["first"] = contest.candidates()[o.flip->first].coordinates;
  return j;
}

}  // namespace

std::string advice_table(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  constexpr std::size_t kTexts = 4;
  std::string text = aligned(standing_lines(advice, contest), kTexts);
  for (const std::string& line : contest.left_out()) text += "left out: " + line + "\n";
  text += "\n" + verdict(advice, contest);
  if (!advice.outlooks.empty())
    text += "\n" + aligned(outlook_lines(advice, contest, advisor), kTexts);
  return text +
         fmt::format("\nresults: {0}\nreport:  trigram report {0}\n", advisor.results().string());
}

Json advice_json(const Advice& advice, const Contest& contest, const Advisor& advisor) {
  Json j = {{"target", contest.target().text()},
            {"cluster", contest.cluster()},
            {"tie", tied(advice) > 1},
            {"candidates", Json::array()},
            {"left_out", contest.left_out()},
            {"flips", Json::array()},
            {"results", advisor.results().string()}};
  for (const Standing& s : advice.standings)
    j["candidates"].push_back(standing_json(s, advice, contest));
  for (const Outlook& o : advice.outlooks) j["flips"].push_back(outlook_json(o, contest, advisor));
  return j;
}

}  // namespace trigram
