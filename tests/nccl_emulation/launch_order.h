#pragma once

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <string_view>

namespace nccl_emulation {

/// Models a GPU that cannot run two NCCL kernels at once: they run one after the other, in the
/// order in which the host launched them, whatever their streams and communicators. Ranks with
/// incompatible launch orders then wait for each other forever. The environment variable
/// `NCCL_LAUNCH_ORDER_IMPLICIT=1` enables this; otherwise kernels of different streams run
/// concurrently. The mutex of the emulated GPU's queues guards the object.
class LaunchOrder {
 public:
  using Ticket = std::size_t;
  static LaunchOrder& get();
  /// Registers a launched kernel. Returns its ticket; 0 if kernels run concurrently.
  Ticket add();
  bool may_run(Ticket ticket) const;
  void remove(Ticket ticket);

 private:
  Ticket last_ = 0;
  std::deque<Ticket> launched_;  // kernels that have not ended, in order of launch
};

inline LaunchOrder& LaunchOrder::get() {
  static LaunchOrder& order = *new LaunchOrder;  // kernels may outlive static objects
  return order;
}

inline LaunchOrder::Ticket LaunchOrder::add() {
  const char* const variable = std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  if (!variable || std::string_view(variable) != "1") return 0;
  return launched_.emplace_back(++last_);
}

inline bool LaunchOrder::may_run(Ticket ticket) const {
  return ticket == 0 || launched_.front() == ticket;
}

inline void LaunchOrder::remove(Ticket ticket) { std::erase(launched_, ticket); }

}  // namespace nccl_emulation
