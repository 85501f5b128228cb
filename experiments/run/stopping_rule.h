#pragma once

#include <span>
#include <vector>

#include "experiments/run/rank_main.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Watches the steps of a run, and says when it ends earlier than after all that were asked for.
class StoppingRule {
 public:
  virtual ~StoppingRule() = default;

  /// All ranks have ended the step of `record`, and some of them step `furthest`. `weights` are
  /// those of the ranks that train, where the step is evaluated; else there are none. Steps in
  /// order.
  virtual void add(const StepRecord& record, std::span<const RankStep> ranks,
                   std::span<const std::vector<float>> weights, long furthest) = 0;

  /// The number of steps to be made, as is known by now. No rank has begun the last of them when
  /// this becomes less. Any thread may ask.
  virtual long end() const = 0;
  /// How many of them count. Those after were begun before all ranks knew.
  virtual long counted() const { return end(); }
  /// What the ranks have come to by the rule, of what they have made.
  virtual std::vector<RankResult> completed(std::span<const RankResult> made) const {
    return {made.begin(), made.end()};
  }
};

}  // namespace trigram
