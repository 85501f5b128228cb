#include "experiments/run/network_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/config/jobs.h"
#include "experiments/run/shortfall.h"

namespace trigram {
namespace {

/// Credit counts as settled when it exceeds its minimum by at most this fraction of the used
/// credit.
constexpr double kSettled = 0.01;
/// Credit below this fraction of the bucket's depth counts as used up, because idle links save some
/// credit again.
constexpr double kUsedUp = 0.05;

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

}  // namespace

NetworkChanges::NetworkChanges(const Experiment& e, Credits credits)
    : links_(e.cluster.inter),
      credits_(std::move(credits)),
      begin_s_(start_s(e)),
      connects_nodes_(e.cluster.nodes > 1 && e.world().simulated),
      first_cycle_(rated_cycle(e).first_step + rated_cycle(e).steps) {}

void NetworkChanges::add(const StepRecord& record) {
  end_s_ = record.time_s;
  if (!links_.shaping.enabled()) return;
  const std::vector<double> credits = credits_();
  if (!credits.empty()) least_credits_.push_back(*std::ranges::min_element(credits));
}

std::vector<std::string> NetworkChanges::warnings() const {
  if (!connects_nodes_) return {};
  std::vector<std::string> all = {credit_warning(), profile_warning()};
  std::erase(all, "");
  return all;
}

/// Credit that varies within a cycle of the algorithm and then repeats does not affect long-run
/// means.
std::string NetworkChanges::credit_warning() const {
  const double initial = std::min(links_.shaping.initial_bytes, links_.shaping.depth_bytes);
  if (least_credits_.empty() || initial <= 0) return "";
  const auto lowest = std::ranges::min_element(least_credits_);
  const double used = initial - *lowest;
  const auto settled = std::ranges::find_if(
      least_credits_, [&](double bytes) { return bytes <= *lowest + kSettled * used; });
  const auto step = settled - least_credits_.begin() + 1;
  if (step <= first_cycle_) return "";
  const auto steps = std::ssize(least_credits_);
  const std::string began = fmt::format(
      "network not the same in all steps: links between nodes began with {} of saved "
      "credit, ",
      gigabytes(initial));
  if (*lowest < kUsedUp * links_.shaping.depth_bytes)
    return began + fmt::format(
                       "which was used up in step {} of {}; later steps are slower, and means per "
                       "step cover both",
                       step, steps);
  if (2 * step <= steps) return "";  // links save as much credit as they use
  return began + fmt::format(
                     "of which {} was left after the last of {} steps; steps are slower once it is "
                     "used up, as a longer run shows",
                     gigabytes(least_credits_.back()), steps);
}

std::string NetworkChanges::profile_warning() const {
  if (links_.profile.empty()) return "";
  const auto begun = std::ranges::count_if(
      links_.profile, [this](const LinkChange& change) { return change.at_s < begin_s_ + end_s_; });
  const auto during = std::ranges::count_if(links_.profile, [this](const LinkChange& change) {
    return change.at_s > begin_s_ && change.at_s < begin_s_ + end_s_;
  });
  std::string text;
  if (during > 0)
    text = fmt::format(
        "{} of the changes of /cluster/inter/profile came during the run, the last at {:.4g} s of "
        "{:.4g} s, and means per step cover the whole run",
        during, links_.profile[static_cast<std::size_t>(begun) - 1].at_s, begin_s_ + end_s_);
  if (begun < std::ssize(links_.profile))
    text += fmt::format(
        "{}the next change of /cluster/inter/profile, at {:.4g} s, comes after the "
        "end of the run, at {:.4g} s",
        text.empty() ? "" : "; ", links_.profile[static_cast<std::size_t>(begun)].at_s,
        begin_s_ + end_s_);
  return text.empty() ? "" : "network not the same in all steps: " + text;
}

}  // namespace trigram
