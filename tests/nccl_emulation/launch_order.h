#pragma once

#include <cstddef>
#include <deque>

namespace nccl_emulation {

/// What a GPU without room for two kernels of NCCL does: they run one after the other, in the order
/// in which the host has launched them, whatever their streams and communicators. Ranks that launch
/// in orders that do not agree then wait for each other for ever. With
/// `NCCL_LAUNCH_ORDER_IMPLICIT=1` in the environment; without it kernels of different streams run
/// side by side. Guarded by the mutex of the emulated GPU's queues.
class LaunchOrder {
 public:
  using Ticket = std::size_t;
  static LaunchOrder& get();
  /// Of the next kernel. 0, when kernels run side by side.
  Ticket launched();
  bool may_run(Ticket ticket) const;
  void ended(Ticket ticket);

 private:
  Ticket last_ = 0;
  std::deque<Ticket> on_the_gpu_;
};

}  // namespace nccl_emulation
