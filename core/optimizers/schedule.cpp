#include "core/optimizers/schedule.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/math/elementary.h"

namespace trigram {

FieldTable<Schedule> schedule_fields() {
  using Decay = Schedule::Decay;
  using Scaling = Schedule::Scaling;
  const auto in_steps = [](const Schedule& s) { return s.decay == Decay::step; };
  const char* const why_not = "has no effect here; expected \"decay\": \"step\" beside it";
  return FieldTable<Schedule>{}
      .field("warmup_steps", &Schedule::warmup_steps, integer(0),
             "steps over which the learning rate rises linearly to its value")
      .field(
          "decay", &Schedule::decay,
          one_of<Decay>({{"none", Decay::none},
                         {"step", Decay::step},
                         {"linear", Decay::linear},
                         {"cosine", Decay::cosine}}),
          "how the learning rate falls after the warm-up; linear and cosine end at 0 with the run")
      .field("decay_every", &Schedule::decay_every, integer(1),
             "decay step: number of steps after which the rate is multiplied by decay_factor")
      .only_where(in_steps, why_not)
      .field("decay_factor", &Schedule::decay_factor, number(0, 1),
             "decay step: factor on the learning rate after every decay_every steps")
      .only_where(in_steps, why_not)
      .field("lr_scaling", &Schedule::lr_scaling,
             one_of<Scaling>(
                 {{"none", Scaling::none}, {"linear", Scaling::linear}, {"sqrt", Scaling::sqrt}}),
             "factor on the learning rate: 1, the number of workers (arXiv 1706.02677), or its "
             "square root");
}

LearningRate::LearningRate(double lr, const Schedule& schedule, int world_size, long steps)
    : peak_(lr), schedule_(schedule), steps_(steps) {
  TRIGRAM_CHECK(world_size > 0, "a world of {} ranks", world_size);
  if (schedule.lr_scaling == Schedule::Scaling::linear) peak_ *= world_size;
  if (schedule.lr_scaling == Schedule::Scaling::sqrt)
    peak_ *= std::sqrt(world_size);  // exact in IEEE 754
}

float LearningRate::at(long step) const {
  const long warmup = schedule_.warmup_steps;
  if (step < warmup) {
    return static_cast<float>(peak_ * static_cast<double>(step + 1) / static_cast<double>(warmup));
  }
  return static_cast<float>(peak_ * decayed(step - warmup));
}

// The factor of the decay, `step` steps after the end of the warm-up.
double LearningRate::decayed(long step) const {
  const long length = std::max(1L, steps_ - static_cast<long>(schedule_.warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step) / static_cast<double>(length));
  switch (schedule_.decay) {
    case Schedule::Decay::none: return 1;
    case Schedule::Decay::linear: return 1 - progress;
    case Schedule::Decay::cosine: return (1 + cos_pi_portable(progress)) / 2;
    case Schedule::Decay::step: break;
  }
  double factor = 1;
  for (long i = step / schedule_.decay_every; i > 0 && factor > 0; --i) {
    if (schedule_.decay_factor == 1) break;
    factor *= schedule_.decay_factor;
  }
  return factor;
}

}  // namespace trigram
