#include "experiments/run/target_quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/run/shortfall.h"

namespace trigram {
namespace {

/// The number of steps after which workers first have a common model. If workers train separately
/// between averages from the first step on, this is at their first average; otherwise it is after
/// the first step.
long first_common_model(const Experiment& e) {
  const Cycle cycle = rated_cycle(e);
  if (cycle.first_step > 0 || !cycle.exact) return 1;
  return e.schedule().interval_steps;
}

/// The time at which the first of the ranks that train ended the step.
double first_end_s(std::span<const RankStep> ranks) {
  double first_s = std::numeric_limits<double>::infinity();
  for (const RankStep& rank : ranks)
    if (rank.trains) first_s = std::min(first_s, rank.end_s);
  return first_s;
}

}  // namespace

void TargetQuality::add(const StepRecord& record, std::span<const RankStep> ranks,
                        std::span<const std::vector<float>> weights, long furthest) {
  if (evaluations_.empty() && (record.step == 0 || record.step + 1 == first_model_))
    first_model_s_ = waits_ ? record.time_s : first_end_s(ranks);
  if (!record.evaluation) return;
  const double lacking = target_.lacking({record.evaluation->loss, record.evaluation->accuracy});
  evaluations_.push_back({record.step + 1, record.time_s, lacking});
  if (lacking > 0) return;
  reached_s_ = record.time_s;
  counted_ = record.step + 1;
  worker_done_ = counted_ < steps_ && furthest + 2 >= steps_;
  const long begun = furthest + 1;
  end_ = std::min(steps_, begun + 2);  // no rank has begun the last step, begun + 1
  for (const std::vector<float>& model : weights) hashes_.push_back(weights_hash(model));
}

std::vector<RankResult> TargetQuality::completed(std::span<const RankResult> results) const {
  std::vector<RankResult> all(results.begin(), results.end());
  if (counted_ == steps_) return all;
  auto hash = hashes_.begin();
  for (RankResult& rank : all)
    if (rank.trains) rank.weights_hash = *hash++;
  return all;
}

double TargetQuality::deviation(const Evaluated& before, const Evaluated& at,
                                const Evaluated& after) {
  const double share = static_cast<double>(at.steps - before.steps) /
                       static_cast<double>(after.steps - before.steps);
  const double line = before.lacking + share * (after.lacking - before.lacking);
  return std::isfinite(at.lacking - line) ? std::abs(at.lacking - line) : 0;
}

/// Goes back from the evaluation that reached the target to the earliest one that lacked no more
/// than an evaluation deviates from its neighbours from then on. If there were more models between
/// that one and the one before, one of them may have reached the target.
double TargetQuality::after_s() const {
  std::size_t first = evaluations_.size() - 1;
  double most = 0;
  for (std::size_t i = first; i-- > 0;) {
    const Evaluated& at = evaluations_[i];
    if (i > 0) most = std::max(most, deviation(evaluations_[i - 1], at, evaluations_[i + 1]));
    const long before = i > 0 ? evaluations_[i - 1].steps : 0;
    if (at.lacking <= most && at.steps - before > interval_steps_) first = i;
  }
  return first == 0 ? first_model_s_ : evaluations_[first - 1].time_s;
}

Json TargetQuality::to_json(std::optional<double> epochs) const {
  Json j = {{target_.name(), target_.level},
            {"steps", nullptr},
            {"epochs", nullptr},
            {"time_s", nullptr},
            {"after_s", nullptr}};
  if (!reached_s_) return j;
  j["steps"] = counted_;
  if (epochs) j["epochs"] = *epochs;
  j["time_s"] = *reached_s_;
  j["after_s"] = after_s();
  return j;
}

std::unique_ptr<TargetQuality> make_target_quality(const Experiment& e) {
  const std::optional<TargetLevel> target = e.target();
  if (!target) return nullptr;
  return std::make_unique<TargetQuality>(*target, static_cast<long>(e.steps), first_common_model(e),
                                         e.schedule().interval_steps, e.synchronous());
}

std::string models_of_nobody_warning(const Experiment& e) {
  const long every = e.schedule().interval_steps;
  if (e.cluster.ranks() == 1 || e.algorithm_entry().own_models || e.eval_every == 0 ||
      e.eval_every % every == 0)
    return "";
  return fmt::format(
      "some evaluations are between averages, of a mean model that no worker has then; expected an "
      "eval_every that is a multiple of {}",
      every);
}

}  // namespace trigram
