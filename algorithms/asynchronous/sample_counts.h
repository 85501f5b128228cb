#pragma once

#include <cstdint>
#include <map>

#include "core/context.h"

namespace trigram {

/// The number of samples that all ranks together process in a step to which each contributes at its
/// own pace. Samples count as soon as a rank begins to process them: a rank that hears that there
/// are enough samples finishes those that it has begun, so it neither stops early nor computes
/// samples that are not needed, as long as the news takes less time than a mini-batch.
///
/// Uses the control plane of the main stream: a rank announces its samples to all other ranks, P-1
/// messages per mini-batch and P-1 per step.
class SampleCounts {
 public:
  /// Announces that this rank begins to process `samples` more samples of `step`.
  void begin(Context ctx, long step, std::int64_t samples);
  /// The samples that all ranks have begun to process in `step`, as far as this rank knows.
  std::int64_t begun(Context ctx, long step);
  /// Called when this rank begins no more samples of `step`. Waits until the same holds for all
  /// ranks. Returns the samples of all ranks, the same on every rank.
  std::int64_t total(Context ctx, long step);

 private:
  struct Count {
    std::int64_t samples = 0;
    int complete = 0;  // number of other ranks that begin no more samples
  };
  void announce(Context ctx, long step, std::int64_t samples);
  void count(const Message& message);

  std::map<long, Count> counts_;  // by step: a rank may be one step ahead of another
};

}  // namespace trigram
