#pragma once

#include "core/workload.h"

namespace trigram {

/// weight <- f(weight, grad, own state), bucket by bucket. One instance per rank. A bucket's k-th
/// step uses the learning rate of step k.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void step(Context ctx, Bucket& bucket) = 0;
};

}  // namespace trigram
