#pragma once

#include "core/context.h"
#include "core/training_state.h"

namespace trigram {

/// The number of local steps between two averages, adapted to the loss (AdaComm, Wang and Joshi,
/// arXiv 1810.08313). At the first average that ends `every_s` seconds or more after the last
/// change, the number becomes
///
///   H = ceil(H_0 sqrt(F / F_0))
///
/// where F is the workers' mean loss on the mini-batches since the average before, and F_0 that
/// before the first average. So workers communicate rarely at first and more often later.
///
/// All ranks make the same decisions: after every average, they exchange their losses and times, 8
/// bytes per rank, by recursive doubling. Needs values.
class AdaptivePeriod {
 public:
  /// `first` is H_0. `state` keeps the losses and times.
  AdaptivePeriod(Context ctx, long first, double every_s, const TrainingState& state);

  /// Called once per step. Returns true if an average follows the step.
  bool due() { return kept_.steps + 1 >= kept_.period; }
  /// Called at the end of a step, with the loss of its mini-batch.
  void end_step(double loss);
  /// Called after an average, on all ranks. Exchanges on `comm`.
  void end_block(Context ctx, Stream& comm);

 private:
  struct Kept {
    long period, steps = 0;  // steps since the last average
    double loss_sum = 0;     // of these steps
    double first_loss = 0;   // F_0
    long averages = 0;       // since the beginning of the run
    double waited_s = 0;     // since the last change
  };

  long first_;
  double every_s_;
  TrainingState state_;  // owns the numbers
  Kept& kept_;
  double seen_s_;  // the time until which `waited_s` counts
};

}  // namespace trigram
