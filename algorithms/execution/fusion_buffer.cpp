#include "algorithms/execution/fusion_buffer.h"

#include <cmath>
#include <vector>

#include "core/config/fields.h"
#include "core/config/option_kinds.h"

namespace trigram {
namespace {

// Control messages: a rank's own of what is ready, all ranks' of the same to rank 0, its answer.
enum Tag { kReady, kReport, kAnswer };

void sleep_to_the_next_cycle(Stream& stream, double cycle_s) {
  if (cycle_s == 0) return;
  const double now_s = stream.now();
  const double begin_s = std::ceil(now_s / cycle_s) * cycle_s;
  if (begin_s > now_s) stream.sleep_for(begin_s - now_s);
}

/// The least of what the ranks say; empty when the world ends meanwhile.
std::optional<std::size_t> least(Context c, std::size_t own) {
  if (c.rank() > 0) {
    c.control->post(0, kReport, static_cast<std::int64_t>(own));
    const auto answer = c.control->receive(kAnswer);
    if (!answer) return std::nullopt;
    return static_cast<std::size_t>(answer->a);
  }
  for (int others = c.size() - 1; others > 0; --others) {
    const auto report = c.control->receive(kReport);
    if (!report) return std::nullopt;
    own = std::min(own, static_cast<std::size_t>(report->a));
  }
  for (int rank = 1; rank < c.size(); ++rank)
    c.control->post(rank, kAnswer, static_cast<std::int64_t>(own));
  return own;
}

}  // namespace

Kind<std::optional<FusionCycle>> fusion_buffer_kind() {
  return optional(nested(
      FieldTable<FusionCycle>{}
          .field("size", &FusionCycle::buffer_bytes, byte_size(),
                 "Fused exchanges are no longer than this, but for a single longer bucket")
          .field("cycle", &FusionCycle::cycle_s, quantity(Dimension::duration),
                 "Fusing begins at multiples of this time; 0s: as soon as a bucket is ready")));
}

/// What the tasks share. Used by the main stream between iterations, else by the negotiation.
struct FusionBuffer::Agent {
  FusionCycle cycle;
  Exchange exchange;
  Tensor gradients;
  std::vector<Tensor> buckets;                   // parts of the gradients, one after another
  std::vector<std::shared_ptr<Work>> exchanges;  // of this iteration
  Control* control = nullptr;                    // of the negotiation

  /// Until all buckets of an iteration have been handed to `comm`.
  void negotiate(Context c, Stream& comm, long step) {
    std::size_t ready = 0, begin = 0;  // begin: in elements
    for (std::size_t done = 0; done < buckets.size();) {
      while (ready <= done) {
        const auto message = c.control->receive(kReady);
        if (!message) return;
        ready = static_cast<std::size_t>(message->a);
      }
      sleep_to_the_next_cycle(*c.stream, cycle.cycle_s);
      while (const auto message = c.control->poll(kReady))
        ready = static_cast<std::size_t>(message->a);
      const auto agreed = least(c, ready);
      if (!agreed) return;
      while (done < *agreed)
        begin = fuse(c, comm, {static_cast<int>(done), step}, done, *agreed, begin);
    }
  }

  /// Hands buckets from `done` on to `comm`, as many as fit; returns where the next one begins.
  std::size_t fuse(Context c, Stream& comm, Slot slot, std::size_t& done, std::size_t agreed,
                   std::size_t begin) {
    std::size_t count = 0, priced = 0;
    do {
      count += buckets[done].numel();
      priced += buckets[done].priced_numel();
    } while (++done < agreed &&
             (priced + buckets[done].priced_numel()) * size_of(DType::f32) <= cycle.buffer_bytes);
    exchanges.push_back(
        comm.submit(c, [exchange = exchange, x = gradients.slice(begin, count, priced),
                        slot](Context k) { exchange(k, x, slot); }));
    return begin + count;
  }
};

FusionBuffer::FusionBuffer(Context ctx, Run& run, const FusionCycle& cycle, Exchange exchange)
    : run_(run),
      agent_(std::make_shared<Agent>(cycle, std::move(exchange), run.workload.gradients())),
      comm_(ctx.stream->fork("comm")),
      negotiation_(ctx.stream->fork("negotiation")),
      ready_(ctx.stream->fork("ready")) {
  for (const Bucket& bucket : run.workload.buckets()) agent_->buckets.push_back(bucket.grad);
  ctx.stream->wait(
      *negotiation_->submit(ctx, [agent = agent_](Context c) { agent->control = c.control; }));
}

FusionBuffer::~FusionBuffer() = default;

void FusionBuffer::step(Context ctx) {
  agent_->exchanges.clear();
  const auto negotiated =
      negotiation_->submit(ctx, [agent = agent_, comm = comm_.get(), step = run_.steps.current()](
                                    Context c) { agent->negotiate(c, *comm, step); });
  // A stream that comes to a bucket when its gradient is there tells the negotiation.
  auto announce = [&](const Bucket& bucket) {
    ready_->submit(ctx, [control = agent_->control, count = bucket.index + 1](Context c) {
      c.stream->synchronize();
      control->post(c.world_rank, kReady, count);
    });
  };
  const bool overlap = run_.execution.overlap;
  run_.workload.forward(ctx);
  run_.workload.backward(ctx, [&](Bucket& bucket) {
    if (overlap) announce(bucket);
  });
  if (!overlap) announce(run_.workload.buckets().back());
  ctx.stream->wait(*negotiated);
  for (const auto& exchange : agent_->exchanges) ctx.stream->wait(*exchange);
  for (Bucket& bucket : run_.workload.buckets()) run_.optimizer.step(ctx, bucket);
}

}  // namespace trigram
