#pragma once

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <string_view>

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

inline LaunchOrder& LaunchOrder::get() {
  static LaunchOrder& order = *new LaunchOrder;  // kernels may outlive static objects
  return order;
}

inline LaunchOrder::Ticket LaunchOrder::launched() {
  const char* const asked = std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  if (!asked || std::string_view(asked) != "1") return 0;
  return on_the_gpu_.emplace_back(++last_);
}

inline bool LaunchOrder::may_run(Ticket ticket) const {
  return ticket == 0 || on_the_gpu_.front() == ticket;
}

inline void LaunchOrder::ended(Ticket ticket) { std::erase(on_the_gpu_, ticket); }

}  // namespace nccl_emulation
