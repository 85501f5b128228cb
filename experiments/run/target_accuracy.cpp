#include "experiments/run/target_accuracy.h"

#include <algorithm>

namespace trigram {

void TargetAccuracy::add(const StepRecord& record, std::span<const RankStep> /*ranks*/,
                         std::span<const std::vector<float>> weights, long furthest) {
  if (!record.evaluation) return;
  if (record.evaluation->accuracy.value_or(0) < accuracy_) {
    after_s_ = record.time_s;
    return;
  }
  reached_s_ = record.time_s;
  counted_ = record.step + 1;
  const long begun = furthest + 1;
  end_ = std::min(steps_, begun + 2);  // the last one, begun + 1, is nobody's yet
  for (const std::vector<float>& model : weights) hashes_.push_back(weights_hash(model));
}

std::vector<RankResult> TargetAccuracy::completed(std::span<const RankResult> made) const {
  std::vector<RankResult> all(made.begin(), made.end());
  if (counted_ == steps_) return all;
  auto hash = hashes_.begin();
  for (RankResult& rank : all)
    if (rank.trains) rank.weights_hash = *hash++;
  return all;
}

Json TargetAccuracy::to_json(double epochs) const {
  Json j = {{"accuracy", accuracy_},
            {"steps", nullptr},
            {"epochs", nullptr},
            {"time_s", nullptr},
            {"after_s", nullptr}};
  if (!reached_s_) return j;
  j["steps"] = counted_;
  j["epochs"] = epochs;
  j["time_s"] = *reached_s_;
  j["after_s"] = after_s_;
  return j;
}

std::unique_ptr<TargetAccuracy> make_target_accuracy(const Experiment& e) {
  if (!e.target_accuracy) return nullptr;
  return std::make_unique<TargetAccuracy>(*e.target_accuracy, static_cast<long>(e.steps));
}

}  // namespace trigram
