#pragma once

#include <vector>

#include "algorithms/execution/exchange.h"

namespace trigram {

/// An interval of 1 step at first, which doubles after every `every` calls of `count`, up to a
/// maximum.
class DoublingInterval {
 public:
  /// `state` keeps the interval and the count.
  DoublingInterval(long every, long maximum, const TrainingState& state = {})
      : every_(every),
        maximum_(maximum),
        state_(state),
        steps_(state.value<long>("interval", 1)),
        counted_(state.value<long>("counted")) {}
  /// True if `step`, which starts at 0, is a multiple of the present interval.
  bool ends_at(long step) const { return step % steps_ == 0; }
  /// The number of calls of `count` after which the interval reaches its maximum.
  long counts_to_maximum() const {
    long counts = 0;
    for (long rest = maximum_ - 1; rest > 0; rest /= 2) counts += every_;
    return counts;
  }
  void count() {
    if (++counted_ % every_ == 0) steps_ = steps_ > maximum_ / 2 ? maximum_ : 2 * steps_;
  }

 private:
  long every_, maximum_;
  TrainingState state_;  // owns the following two
  long &steps_, &counted_;
};

/// Local steps along the optimizer's moment m, for methods that average the movement of each rank
/// (0/1 Adam, arXiv 2202.06009). For every bucket it keeps the weights x_0 at the last average and,
/// since then, u = the sum of lr m, and the sum of lr. Memory: two models.
class LocalMoments {
 public:
  LocalMoments(Context ctx, Run& run);
  /// Sets x_0 to the present weights, and u and the sum of lr to 0.
  void begin(Context ctx, Run& run);
  /// One iteration: updates the moving average m with the gradient, sets u = u + lr m, and steps
  /// along m. If `due`, an average replaces the step along m, bucket by bucket: `average` replaces
  /// u by its mean over the ranks, m becomes u / (sum of lr), and the weights become x_0 plus one
  /// step along m whose learning rate is the sum of lr. These weights are also the next x_0.
  void step(Context ctx, Run& run, Stream& comm, const Exchange& average, bool due);

 private:
  Tensor add(Context ctx, Run& run, Bucket& bucket);
  void step_averaged(Context ctx, Run& run, Bucket& bucket);
  void restart(Context ctx, const Bucket& bucket);

  struct Sum {
    Tensor start, moved;  // x_0 and u
    float* lr = nullptr;  // the sum of lr
  };
  Sum& sum(const Bucket& bucket) { return sums_.at(static_cast<std::size_t>(bucket.index)); }

  TrainingState state_;    // owns the sums of lr
  std::vector<Sum> sums_;  // by bucket index
};

}  // namespace trigram
