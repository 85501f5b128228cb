#include "experiments/advise/chance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/run/drawn_steps.h"

namespace trigram {

std::vector<std::string> randomness_notes(const Experiment& e, bool to_accuracy) {
  std::vector<std::string> notes;
  if (const std::vector<std::string> by_chance = drawn_at_random(e.cluster); !by_chance.empty())
    notes.push_back(fmt::format(
        "{} {} drawn at random: each row is the mean over one draw of its steps, and a longer run "
        "may have another mean and another order; --set /steps=1000 makes runs longer",
        fmt::join(by_chance, ", "), by_chance.size() == 1 ? "is" : "are"));
  if (!to_accuracy) return notes;
  notes.push_back(fmt::format(
      "times to an accuracy are those of seed {} only: other mini-batches take other times, which "
      "may differ by more than the intervals; --set /seed=N draws other mini-batches",
      e.seed));
  return notes;
}

}  // namespace trigram
