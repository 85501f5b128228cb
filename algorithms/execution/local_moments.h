#pragma once

#include <vector>

#include "algorithms/execution/exchange.h"

namespace trigram {

/// Local steps along the optimizer's moment m, for methods that average what ranks have moved along
/// it (0/1 Adam, arXiv 2202.06009): of every bucket the weights x_0 at the last average and, since
/// then, u = sum of lr m and the sum of lr. Memory: two models.
class LocalMoments {
 public:
  LocalMoments(Context ctx, Run& run);
  /// The weights as they are become x_0.
  void begin(Context ctx, Run& run);
  /// One iteration: m <- its moving average with the bucket's gradient, u <- u + lr m, a step along
  /// m. Where an average is `due`, instead of that step: u is exchanged for its average, bucket by
  /// bucket, m = u / sum of lr, and x_0 after a step of that learning rate along m are the weights,
  /// and the next x_0.
  void step(Context ctx, Run& run, Stream& comm, const Exchange& average, bool due);

 private:
  Tensor add(Context ctx, Run& run, Bucket& bucket);
  void step_averaged(Context ctx, Run& run, Bucket& bucket);

  struct Sum {
    Tensor start, moved;
    float lr = 0;
  };
  Sum& sum(const Bucket& bucket) { return sums_.at(static_cast<std::size_t>(bucket.index)); }

  std::vector<Sum> sums_;  // by bucket index
};

}  // namespace trigram
