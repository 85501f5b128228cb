#pragma once

namespace trigram {

/// An interval of one step that doubles whenever `every` more have been counted, up to `most`.
class DoublingInterval {
 public:
  DoublingInterval(long every, long most) : every_(every), most_(most) {}
  /// Whether `step`, from 0 on, is a multiple of the interval as it is now.
  bool ends_at(long step) const { return step % steps_ == 0; }
  /// Counts after which it is as long as it gets.
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
