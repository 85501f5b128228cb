#pragma once

#include <cstddef>
#include <deque>

namespace nccl_emulation {

/// Models a GPU without room for two NCCL kernels: they run one after the other, in the order in
/// which the host launched them, whatever their streams and communicators. Ranks with incompatible
/// launch orders then wait for each other forever. The environment variable
/// `NCCL_LAUNCH_ORDER_IMPLICIT=1` enables this; otherwise kernels of different streams run
/// concurrently. The mutex of the emulated GPU's queues guards the object.
class LaunchOrder {
 public:
  using Ticket = std::size_t;
  static LaunchOrder& get();
  /// The ticket of the next kernel; 0 if kernels run concurrently.
  Ticket launched();
  bool may_run(Ticket ticket) const;
  void ended(Ticket ticket);

 private:
  Ticket last_ = 0;
  std::deque<Ticket> on_the_gpu_;
};

}  // namespace nccl_emulation
