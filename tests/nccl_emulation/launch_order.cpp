#include "tests/nccl_emulation/launch_order.h"

#include <cstdlib>
#include <deque>
#include <string_view>

namespace nccl_emulation {

LaunchOrder& LaunchOrder::get() {
  static LaunchOrder& order = *new LaunchOrder;  // kernels may outlive static objects
  return order;
}

LaunchOrder::Ticket LaunchOrder::launched() {
  const char* const asked = std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  if (!asked || std::string_view(asked) != "1") return 0;
  return on_the_gpu_.emplace_back(++last_);
}

bool LaunchOrder::may_run(Ticket ticket) const {
  return ticket == 0 || on_the_gpu_.front() == ticket;
}

void LaunchOrder::ended(Ticket ticket) { std::erase(on_the_gpu_, ticket); }

}  // namespace nccl_emulation
