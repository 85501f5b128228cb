#pragma once

#include <cstdint>

#include "core/config/fields.h"

namespace trigram {

/// How the learning rate changes over a run. The rate is scaled by the number of workers, or by its
/// square root, only if the option lr_scaling says so.
struct Schedule {
  enum class Decay { none, step, linear, cosine };
  enum class Scaling { none, linear, sqrt };

  std::int64_t warmup_steps = 0;
  Decay decay = Decay::none;
  std::int64_t decay_every = 1000;  // only for Decay::step
  double decay_factor = 0.1;
  Scaling lr_scaling = Scaling::none;
};

FieldTable<Schedule> schedule_fields();

/// The learning rate of each step of a run.
class LearningRate {
 public:
  /// `steps` is the length of the run, at which linear and cosine decay reach 0.
  LearningRate(double lr, const Schedule& schedule, int world_size, long steps);
  float at(long step) const;

 private:
  double decayed(long step) const;

  double peak_;
  Schedule schedule_;
  long steps_;
};

}  // namespace trigram
