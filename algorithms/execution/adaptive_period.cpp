#include "algorithms/execution/adaptive_period.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithms/collectives/collectives.h"

namespace trigram {

AdaptivePeriod::AdaptivePeriod(Context ctx, long first, double every_s, const TrainingState& state)
    : first_(first),
      every_s_(every_s),
      state_(state),
      kept_(state_.value<Kept>("adaptive period", {.period = first})),
      seen_s_(ctx.stream->now()) {}

void AdaptivePeriod::end_step(double loss) {
  ++kept_.steps;
  kept_.loss_sum += loss;
}

void AdaptivePeriod::end_block(Context ctx, Stream& comm) {
  const double now_s = ctx.stream->now();
  kept_.waited_s += now_s - seen_s_;
  seen_s_ = now_s;
  const double loss = kept_.loss_sum / static_cast<double>(kept_.steps);
  kept_.steps = 0;
  kept_.loss_sum = 0;

  const Tensor x = ctx.device->empty(2);
  ctx.device->upload(
      x, std::vector<float>{static_cast<float>(loss), static_cast<float>(kept_.waited_s)});
  ctx.stream->wait(
      *comm.submit(ctx, [x](Context c) { recursive_doubling_allreduce(c, x, Reduce::avg); }));
  const std::vector<float> means = ctx.device->download(x);
  const double mean_loss = static_cast<double>(means.at(0));
  if (kept_.averages++ == 0) kept_.first_loss = mean_loss;
  if (static_cast<double>(means.at(1)) < every_s_) return;
  kept_.waited_s = 0;
  const double ratio = std::sqrt(mean_loss / kept_.first_loss);
  if (!std::isfinite(ratio)) return;  // such as a loss of 0 from the beginning
  constexpr double kLongest = 1e9;
  kept_.period =
      static_cast<long>(std::clamp(std::ceil(static_cast<double>(first_) * ratio), 1.0, kLongest));
}

}  // namespace trigram
