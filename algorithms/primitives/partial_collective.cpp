#include "algorithms/primitives/partial_collective.h"

#include "core/check.h"

namespace trigram {

/// The agent runs one task per version, each of which submits the next: the worker waits for single
/// versions, and no more than one Work is kept however far ahead the agent may be.
struct PartialCollective::Agent : std::enable_shared_from_this<Agent> {
  Agent(Context ctx, Plan its_plan)
      : plan(std::move(its_plan)), activation(plan.initiator), guard(ctx.stream->make_mutex()) {}

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

  Plan plan;
  Activation activation;
  std::unique_ptr<Mutex> guard;  // of the two below
  long executed = -1;
  std::shared_ptr<Work> next;  // of version executed + 1
};

PartialCollective::PartialCollective(Context ctx, const std::string& name, Plan plan)
    : agent_(std::make_shared<Agent>(ctx, std::move(plan))), stream_(ctx.stream->fork(name)) {
  auto control = std::make_shared<Control*>(nullptr);
  ctx.stream->wait(*stream_->submit(ctx, [control](Context c) { *control = c.control; }));
  control_ = *control;
  if (agent_->plan.versions == 0) return;
  Lock lock(*agent_->guard);  // the first version may run, and submit the next, before this returns
  agent_->submit(ctx, *stream_, 0);
}

void PartialCollective::arrive(Context ctx, long version) {
  std::shared_ptr<Work> pending;
  {
    Lock lock(*agent_->guard);
    if (agent_->executed >= version) return;
    TRIGRAM_CHECK(agent_->executed == version - 1,
                  "arrived at version {}, but {} was the last to run", version, agent_->executed);
    pending = agent_->next;
  }
  Activation::announce(*control_, ctx.world_rank, version);
  ctx.stream->wait(*pending);
}

}  // namespace trigram
