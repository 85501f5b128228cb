#pragma once

#include <vector>

#include "algorithms/execution/exchange.h"

namespace trigram {

/// An interval, in steps, that is 1 at first and doubles after every `every` calls of `count`, up
/// to `most`.
class DoublingInterval {
 public:
  DoublingInterval(long every, long most) : every_(every), most_(most) {}
  /// True if `step`, which starts at 0, is a multiple of the present interval.
  bool ends_at(long step) const { return step % steps_ == 0; }
  /// The number of calls of `count` after which the interval reaches its maximum.
  long counts_to_most() const {
    long counts = 0;
    for (long left = most_ - 1; left > 0; left /= 2) counts += every_;
    return counts;
  }
  void count() {
    if (++counted_ % every_ == 0) steps_ = steps_ > most_ / 2 ? most_ : 2 * steps_;
  }

 private:
  long every_, most_, steps_ = 1, counted_ = 0;
};

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
