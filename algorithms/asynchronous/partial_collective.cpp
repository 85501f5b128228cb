#include "algorithms/asynchronous/partial_collective.h"

#include <bit>

#include "algorithms/execution/control_tag.h"
#include "core/check.h"

namespace trigram {

std::vector<ActivationHop> activation_hops(int rank, int size, int source, int round) {
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  if (rank >= core) {  // the rank is attached to a rank of the core
    if (source == rank) return {{rank - core, kOwnActivation}};
    return {};
  }
  std::vector<ActivationHop> hops;
  for (int r = round + 1; (1 << r) < core; ++r) hops.push_back({rank ^ (1 << r), r});
  const int attached = rank + core;
  if (attached < size && source != attached)
    hops.push_back({attached, std::countr_zero(static_cast<unsigned>(core))});
  return hops;
}

void Activation::announce(Control& agent, int rank, long version) {
  agent.post(rank, kActivationTag, version, kOwnActivation);
}

bool Activation::await(const Context& ctx, long version) {
  const bool waits_for_own_rank = initiator_(version) == kAllRanks;
  while ((waits_for_own_rank ? arrived_ : activated_) < version) {
    const auto message = ctx.control->receive(kActivationTag);
    if (!message) return false;
    handle(ctx, *message);
  }
  return true;
}

void Activation::handle(const Context& ctx, const Message& message) {
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
  // Already active: our own worker came late, or another rank has activated it, too.
  if (version <= activated_) return;
  activated_ = version;
  for (const ActivationHop& hop : activation_hops(ctx.world_rank, ctx.world_size, source, round))
    ctx.control->post(hop.dest, kActivationTag, version, hop.round);
}

/// The agent runs one task per version, and each task submits the next. So the worker can wait for
/// a single version, and only one Work is kept, however far ahead the agent is.
struct PartialCollective::Agent : std::enable_shared_from_this<Agent> {
  Agent(Context ctx, Plan whole_plan)
      : plan(std::move(whole_plan)),
        activation(plan.initiator, plan.first),
        guard(ctx.stream->make_mutex()),
        executed(plan.first - 1) {}

  void submit(Context after, Stream& stream, long version) {
    next = stream.submit(
        after, [self = shared_from_this(), version](Context c) { self->run(c, version); });
  }

  void run(Context c, long version) {
    if (!activation.await(c, version)) return;  // the world is ending
    plan.execute(c, version);
    Lock lock(*guard);
    executed = version;
    if (version + 1 < plan.versions) submit(c, *c.stream, version + 1);
  }

  /// While `version` has not run, the agent's next task, which runs `version` or an earlier
  /// version; null once `version` has run.
  std::shared_ptr<Work> next_task_until(long version) {
    Lock lock(*guard);
    return executed >= version ? nullptr : next;
  }

  Plan plan;
  Activation activation;
  std::unique_ptr<Mutex> guard;  // protects the two members below
  long executed;
  std::shared_ptr<Work> next;  // work of version executed + 1
};

PartialCollective::PartialCollective(Context ctx, const std::string& name, Plan plan)
    : agent_(std::make_shared<Agent>(ctx, std::move(plan))),
      stream_(ctx.stream->fork(name)),
      announced_(agent_->plan.first - 1) {
  auto control = std::make_shared<Control*>(nullptr);
  ctx.stream->wait(*stream_->submit(ctx, [control](Context c) { *control = c.control; }));
  control_ = *control;
  if (agent_->plan.versions == agent_->plan.first) return;
  // The first version may run, and submit the next, before `submit` returns.
  Lock lock(*agent_->guard);
  agent_->submit(ctx, *stream_, agent_->plan.first);
}

void PartialCollective::announce(Context ctx, long version) {
  TRIGRAM_CHECK(version == announced_ + 1, "version {} is announced after {}", version, announced_);
  announced_ = version;
  {
    Lock lock(*agent_->guard);
    if (agent_->executed >= version) return;
  }
  Activation::announce(*control_, ctx.world_rank, version);
}

void PartialCollective::wait(Context ctx, long version) {
  TRIGRAM_CHECK(version <= announced_, "version {} is waited for, but not announced", version);
  while (const auto task = agent_->next_task_until(version)) ctx.stream->wait(*task);
}

void PartialCollective::arrive(Context ctx, long version) {
  announce(ctx, version);
  wait(ctx, version);
}

}  // namespace trigram
