#pragma once

#include <vector>

#include "algorithms/execution/exchange.h"

namespace trigram {

/// Local steps along the optimizer's moment m, for methods that average the movement of each rank
/// (0/1 Adam, arXiv 2202.06009). For every bucket it keeps the weights x_0 at the last average and,
/// since then, u = the sum of lr m, and the sum of lr. Memory: two models.
class LocalMoments {
 public:
  LocalMoments(Context ctx, Run& run);
  /// Sets x_0 to the present weights, and u and the sum of lr to 0.
  void begin(Context ctx, Run& run);
  /// One iteration: updates the moving average m with the bucket's gradient, sets u = u + lr m, and
  /// steps along m. If an average is `due`, it replaces the step along m, bucket by bucket: u is
  /// replaced by its average over the ranks, m = u / (sum of lr), and the weights become x_0 after
  /// one step along m whose learning rate is the sum of lr. These weights are also the next x_0.
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
