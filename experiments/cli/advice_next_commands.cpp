#include "experiments/cli/advice_next_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "experiments/cli/advice_sentences.h"
#include "experiments/text/shell_word.h"

namespace trigram {
namespace {

/// The most algorithms whose learning a command compares, and the most of them that are first.
constexpr std::size_t kMost = 8, kMostLeaders = 3;

/// The algorithms whose learning is worth a comparison.
struct Learners {
  std::vector<std::string> names;         // in the order of the standings
  std::vector<std::string> tied_but_not;  // leaders beyond the first kMostLeaders
};

/// Candidates of a kind have the same trigram, and exchange either in every step or not.
using Kind = std::pair<std::string, bool>;

/// The first algorithms, the first algorithm of each other kind, as far as it is not behind full
/// synchronous gradients, and these.
Learners learners(const Advice& advice, const Contest& contest) {
  Learners found;
  std::set<Kind> kinds;
  const auto candidate = [&](const Standing& s) { return contest.candidates()[s.candidate]; };
  const auto kind = [&](const Standing& s) {
    return Kind(candidate(s).trigram, candidate(s).exchanges_rarely);
  };
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Standing* s : advice.leaders()) {
    const std::string& name = candidate(*s).algorithm;
    const bool is_listed = std::ranges::find(found.names, name) != found.names.end();
    if (!is_listed && found.names.size() == kMostLeaders) add(found.tied_but_not, name);
    else add(found.names, name);
    kinds.insert(kind(*s));
  }
  const Standing* const baseline = baseline_of(advice, contest);
  if (!baseline) return found;
  for (const Standing* s = advice.standings.data(); s != baseline; ++s)
    if (found.names.size() < kMost - 1 && s->reaches_target() && kinds.insert(kind(*s)).second)
      add(found.names, candidate(*s).algorithm);
  add(found.names, candidate(*baseline).algorithm);
  return found;
}

/// Says which options compare algorithms by what they learn, which takes less time than to compare
/// all of them.
std::string how_they_learn(const Advice& advice, const Contest& contest) {
  const auto [names, tied_but_not] = learners(advice, contest);
  if (names.size() < 2) return "";
  return fmt::format(
      "how the first ones learn, and the first of each other kind of algorithm{}: the same command "
      "with --target accuracy=0.8 --ranking-only --algorithms {}\n",
      tied_but_not.empty()
          ? ""
          : fmt::format(" (but not {}, which ties)", fmt::join(tied_but_not, ", ")),
      fmt::join(names, ","));
}

std::string why(const std::string& folder, const Standing& a, const Standing& b) {
  return fmt::format("trigram why {} {} --set /runtime/fidelity=message\n",
                     shell_word(folder + "/" + a.id), shell_word(folder + "/" + b.id));
}

}  // namespace

std::string next_commands(const Advice& advice, const Contest& contest, const std::string& folder) {
  const auto& standings = advice.standings;
  if (!standings.front().reaches_target()) return "";
  // Runs to a level would train again to be explained.
  if (contest.target().level)
    return "why their steps take as long: the same command without --target, which ends with the "
           "commands that explain steps\n";
  std::string text;
  if (standings.size() > 1 && standings[1].is_known() && advice.behind(standings[1]) > 0)
    text += "why the first two differ: " + why(folder, standings[0], standings[1]);
  if (const Standing* baseline = baseline_of(advice, contest);
      baseline && baseline - standings.data() > 1)
    text +=
        fmt::format("why {} takes longer: {}", contest.candidates()[baseline->candidate].algorithm,
                    why(folder, standings[0], *baseline));
  return text + how_they_learn(advice, contest);
}

}  // namespace trigram
