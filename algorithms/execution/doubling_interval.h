#pragma once

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

}  // namespace trigram
