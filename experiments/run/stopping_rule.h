#pragma once

#include <span>
#include <vector>

#include "experiments/run/rank_main.h"
#include "experiments/run/step_record.h"

namespace trigram {

/// Watches the steps of a run and decides whether it ends before all requested steps.
class StoppingRule {
 public:
  virtual ~StoppingRule() = default;

  /// Called when all ranks have ended the step of `record`, in the order of steps. Some ranks may
  /// already have ended later steps, up to `furthest`. `weights` are the weights of the ranks that
  /// train if the step is evaluated; otherwise empty.
  virtual void add(const StepRecord& record, std::span<const RankStep> ranks,
                   std::span<const std::vector<float>> weights, long furthest) = 0;

  /// The number of steps to make, as known so far. It may decrease, but no rank has begun the new
  /// last step then. Any thread may call this.
  virtual long end() const = 0;
  /// The number of these steps that count. Ranks may have begun later steps before the end was
  /// known.
  virtual long counted() const { return end(); }
  /// The results of the ranks after the last step that counts, given their results at the end of
  /// the run.
  virtual std::vector<RankResult> completed(std::span<const RankResult> results) const {
    return {results.begin(), results.end()};
  }
};

}  // namespace trigram
