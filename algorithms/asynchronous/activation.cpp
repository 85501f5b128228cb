#include "algorithms/asynchronous/activation.h"

#include <bit>

#include "algorithms/execution/control_tag.h"

namespace trigram {
std::vector<ActivationHop> activation_hops(int rank, int size, int source, int round) {
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  if (rank >= core) {  // the rank is attached to a rank of the core
    if (source == rank) return {{rank - core, kOwnActivation}};
    return {};
  }
  std::vector<ActivationHop> hops;
  for (int r = round + 1; (1 << r) < core; ++r) hops.push_back({rank ^ (1 << r), r});
  const int hanging = rank + core;
  if (hanging < size && source != hanging)
    hops.push_back({hanging, std::countr_zero(static_cast<unsigned>(core))});
  return hops;
}

void Activation::announce(Control& agent, int rank, long version) {
  agent.post(rank, kActivationTag, version, kOwnActivation);
}

bool Activation::await(const Context& ctx, long version) {
  const bool alone = initiator_(version) == kAllRanks;
  while ((alone ? arrived_ : activated_) < version) {
    const auto message = ctx.control->receive(kActivationTag);
    if (!message) return false;
    hear(ctx, *message);
  }
  return true;
}

void Activation::hear(const Context& ctx, const Message& message) {
  const long version = message.a;
  const bool own = message.source == ctx.world_rank;
  if (own) {
    arrived_ = version;
    const int initiator = initiator_(version);
    if (initiator != kAnyRank && initiator != ctx.world_rank) return;
  }
  activate(ctx, version, message.source, static_cast<int>(message.b));
}

void Activation::activate(const Context& ctx, long version, int source, int round) {
  if (version <= activated_) return;  // a late arrival, or the message of another activator
  activated_ = version;
  for (const ActivationHop& hop : activation_hops(ctx.world_rank, ctx.world_size, source, round))
    ctx.control->post(hop.dest, kActivationTag, version, hop.round);
}

}  // namespace trigram
