#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace trigram::net {

constexpr long kWindow = 8;  // messages in progress, as in NCCL (NCCL_STEPS)

/// `count` messages of `bytes` each, from one process to another. The rate is measured at the
/// receiver, without the first quarter of the messages, in which windows and buffers fill.
struct Stream {
  std::size_t bytes;
  long count;

  long warm_up() const { return count / 4; }
  double Bps(std::chrono::duration<double> time) const {
    return static_cast<double>(bytes) * static_cast<double>(count - warm_up()) / time.count();
  }
};

/// Memory for the messages in progress. The largest messages share one place, because speeds are
/// measured here, not contents.
class Buffers {
 public:
  explicit Buffers(std::size_t bytes)
      : bytes_(bytes),
        places_(bytes <= (4u << 20) ? kWindow : 1),
        memory_(bytes * static_cast<std::size_t>(places_), std::byte{1}) {}
  std::byte* of(long message) {
    return memory_.data() + bytes_ * static_cast<std::size_t>(message % places_);
  }

 private:
  std::size_t bytes_;
  long places_;
  std::vector<std::byte> memory_;
};

}  // namespace trigram::net
