#pragma once

#include <functional>

#include "algorithms/execution/averages.h"
#include "core/config/fields.h"

namespace trigram {

/// One step of an outer optimizer. The gradient is d = x_0 - x_H, where x_0 is the model at the
/// start of a block of local steps, and x_H is the average of the workers' models at the end of the
/// block:
///
///   v   = momentum v + gradient_scale d
///   x_0 = x_0 - lr v                                  if not nesterov
///   x_0 = x_0 - lr (gradient_scale d + momentum v)    if nesterov
struct OuterStep {
  float momentum = 0;
  float gradient_scale = 1;
  float lr = 1;
  bool nesterov = false;
};

/// The options `outer_lr` and `outer_momentum` of algorithms whose outer optimizer is SGD with
/// Nesterov's momentum. The defaults are DiLoCo's.
struct NesterovOuter {
  double lr = 0.7, momentum = 0.9;
  OuterStep step() const {
    return {
        .momentum = static_cast<float>(momentum), .lr = static_cast<float>(lr), .nesterov = true};
  }
};
FieldTable<NesterovOuter> nesterov_outer_fields();

/// Makes the step on x_0 (`start`) and v (`momentum`). `gradient` is d, and has unspecified values
/// afterwards.
void outer_step(Device& device, const OuterStep& step, const Tensor& gradient, const Tensor& start,
                const Tensor& momentum);

/// The tensors that the ranks average at the end of a block: their models x_H, or the differences
/// x_0 - x_H, which suit codes.
enum class Averaged { models, differences };

/// Local SGD with an outer optimizer. All workers begin a block of `sync_every` local steps with
/// the same model x_0. At the end of the block they average with `average`, apply the step that
/// `outer` returns, and begin the next block with the new x_0. An incomplete last block is not
/// averaged.
///
/// `outer` receives the learning rate of the block's last local step. If the run exchanges weights
/// in buckets, the models are averaged one bucket after another. Memory: two additional models.
void train_in_blocks(Context ctx, Run& run, long sync_every, const Exchange& average,
                     const std::function<OuterStep(float inner_lr)>& outer,
                     Averaged averaged = Averaged::models);

/// The end of a block of local steps whose outer step comes one block late.
struct LateBlock {
  Tensor start;       // x_0 of this block; `outer` moves it to that of the next
  Tensor difference;  // x_0 - x_H of this worker and this block
  Tensor mean;        // the workers' mean difference of the block before, 0 in the first; scratch
};

/// Local SGD with an outer optimizer, in which an average takes as long as the next block of local
/// steps. At the end of a block, a worker waits for the average of the block before, calls `outer`,
/// begins to average its difference of this block, and begins the next block at `start`. Memory:
/// two additional models.
void train_in_late_blocks(Context ctx, Run& run, long sync_every, const Exchange& average,
                          const std::function<void(const LateBlock&)>& outer);
/// Its schedule: the first block has no average to wait for.
inline ExchangeSchedule late_schedule(long sync_every) {
  return {.cycle = Cycle{.first_step = sync_every, .steps = sync_every},
          .interval_steps = sync_every};
}

}  // namespace trigram
