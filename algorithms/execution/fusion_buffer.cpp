#include "algorithms/execution/fusion_buffer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "algorithms/collectives/halving_doubling.h"
#include "algorithms/execution/control_tag.h"
#include "algorithms/execution/hierarchy.h"
#include "core/config/fields.h"
#include "core/config/option_type.h"

namespace trigram {

/// The allreduce by which the ranks agree in a cycle: recursive doubling on the control plane, like
/// MPI's allreduce of a few bytes. It takes the latencies of lg P messages, and of two more if P is
/// not a power of two.
///
/// At each rank, every tag of the allreduce has one sender, and messages of one sender with one tag
/// stay in order. The message of a rank that is already in the next allreduce is therefore received
/// only there. (Messages with kReadyTag come from the rank itself.)
class FusionBuffer::Negotiation {
 public:
  Negotiation() = default;
  explicit Negotiation(Context c) {
    const Fold fold(c);
    folded_ = fold.folded();
    partner_ = fold.partner();
    if (folded_) return;
    for (int distance = 1; distance < fold.size(); distance *= 2)
      peers_.push_back(fold.active(fold.number() ^ distance));
  }

  /// The minimum of all ranks' numbers; empty if the world ends meanwhile.
  std::optional<std::size_t> minimum(Control& control, std::size_t own) const {
    std::size_t least = own;
    // Receives a number with `tag` and keeps the smaller one; false if the world ends meanwhile.
    const auto receive = [&](int tag) {
      const auto message = control.receive(tag);
      if (message) least = std::min(least, static_cast<std::size_t>(message->a));
      return message.has_value();
    };
    const auto post = [&](int rank, int tag) {
      control.post(rank, tag, static_cast<std::int64_t>(least));
    };
    if (folded_) {
      post(partner_, kFoldTag);
      if (!receive(kUnfoldTag)) return std::nullopt;
      return least;
    }
    if (partner_ >= 0 && !receive(kFoldTag)) return std::nullopt;
    for (std::size_t round = 0; round < peers_.size(); ++round) {
      const int tag = kNegotiationRound0 + static_cast<int>(round);
      post(peers_[round], tag);
      if (!receive(tag)) return std::nullopt;
    }
    if (partner_ >= 0) post(partner_, kUnfoldTag);
    return least;
  }

 private:
  bool folded_ = false;
  int partner_ = -1;        // the other rank of the pair, or -1; see Fold
  std::vector<int> peers_;  // by round
};

OptionType<std::optional<FusionCycle>> fusion_buffer_kind() {
  return optional(nested(
      FieldTable<FusionCycle>{}
          .field("size", &FusionCycle::buffer_bytes, byte_size(),
                 "Longest fused exchange; a bucket that is longer is exchanged alone")
          .field("cycle", &FusionCycle::cycle_s, quantity(Dimension::duration),
                 "Shortest time between the starts of two cycles; 0s: a cycle starts as soon as a "
                 "bucket is ready")
          .field("negotiations", &FusionCycle::negotiations, integer(1, 2),
                 "Number of successive small allreduces by which the ranks agree in each cycle")));
}

/// State shared by the main stream and the task on the negotiation stream. The main stream uses it
/// between iterations, the task during an iteration (when the main stream only reads `control`).
struct FusionBuffer::NegotiationState {
  FusionCycle cycle;
  Exchange exchange;
  Tensor gradients;
  std::vector<Tensor> buckets;  // the buckets' parts of `gradients`, which adjoin in this order
  WorkList exchanges;           // of this iteration
  Control* control = nullptr;   // of the negotiation stream
  Negotiation negotiation;
  double began_s = -std::numeric_limits<double>::infinity();  // start of the last cycle

  /// Runs cycles until all buckets of an iteration have been handed to `comm`.
  void run_cycles(Context c, Stream& comm, long step) {
    std::size_t ready = 0;          // number of ready buckets of this rank
    std::size_t first_element = 0;  // the first element of `gradients` that is not yet issued
    for (std::size_t issued = 0; issued < buckets.size();) {
      // If the cycle time is 0, a cycle starts only when a bucket becomes ready.
      while (cycle.cycle_s == 0 && ready <= issued) {
        const auto message = c.control->receive(kReadyTag);
        if (!message) return;
        ready = static_cast<std::size_t>(message->a);
      }
      begin_cycle(*c.stream);
      while (const auto message = c.control->poll(kReadyTag))
        ready = static_cast<std::size_t>(message->a);
      const auto agreed = negotiate(c, ready);
      if (!agreed) return;
      while (issued < *agreed)
        first_element =
            fuse(c, comm, {static_cast<int>(issued), step}, issued, *agreed, first_element);
    }
  }

  /// Waits until the cycle time has passed since the last cycle began.
  void begin_cycle(Stream& stream) {
    const double now_s = stream.now(), next_s = began_s + cycle.cycle_s;
    if (next_s > now_s) stream.sleep_for(next_s - now_s);
    began_s = std::max(now_s, next_s);
  }

  /// The number of buckets that are ready on all ranks; empty if the world ends meanwhile.
  std::optional<std::size_t> negotiate(Context c, std::size_t ready) const {
    std::optional<std::size_t> agreed = ready;
    for (std::int64_t i = 0; agreed && i < cycle.negotiations; ++i)
      agreed = negotiation.minimum(*c.control, *agreed);
    return agreed;
  }

  /// Submits one exchange to `comm`. It covers the next bucket (number `issued`, beginning at
  /// element `first_element`), and those after it, up to `agreed`, that still fit the buffer.
  /// Advances `issued` past them. Returns the first element of the bucket after them.
  std::size_t fuse(Context c, Stream& comm, Slot slot, std::size_t& issued, std::size_t agreed,
                   std::size_t first_element) {
    // priced_numel(): elements as the simulator charges them, which may differ from those held in
    // memory.
    std::size_t count = 0, priced = 0;
    do {
      count += buckets[issued].numel();
      priced += buckets[issued].priced_numel();
    } while (++issued < agreed &&
             (priced + buckets[issued].priced_numel()) * size_of(DType::f32) <= cycle.buffer_bytes);
    exchanges.push_back(
        comm.submit(c, [exchange = exchange, x = gradients.slice(first_element, count, priced),
                        slot](Context k) { exchange(k, x, slot); }));
    return first_element + count;
  }
};

FusionBuffer::FusionBuffer(Context ctx, Run& run, const FusionCycle& cycle, Exchange exchange)
    : run_(run),
      state_(std::make_shared<NegotiationState>(cycle, across(run.execution, std::move(exchange)),
                                                run.workload.gradients())),
      comm_(ctx.stream->fork("comm")),
      negotiation_(ctx.stream->fork("negotiation")),
      ready_(ctx.stream->fork("ready")) {
  for (const Bucket& bucket : run.workload.buckets()) state_->buckets.push_back(bucket.grad);
  ctx.stream->wait(*negotiation_->submit(ctx, [state = state_](Context c) {
    state->control = c.control;
    state->negotiation = Negotiation(c);
  }));
}

FusionBuffer::~FusionBuffer() = default;

void FusionBuffer::step(Context ctx) {
  state_->exchanges.clear();
  const auto negotiated =
      negotiation_->submit(ctx, [state = state_, comm = comm_.get(), step = run_.steps.current()](
                                    Context c) { state->run_cycles(c, *comm, step); });
  // Submits to `ready_` a task that waits until the bucket's gradient is complete, and then posts
  // the number of ready buckets to the negotiation stream.
  auto announce = [&](const Bucket& bucket) {
    ready_->submit(ctx, [control = state_->control, count = bucket.index + 1](Context c) {
      c.stream->synchronize();
      control->post(c.world_rank, kReadyTag, count);
    });
  };
  const bool overlap = run_.execution.overlap;
  run_.workload.forward(ctx);
  run_.workload.backward(ctx, [&](Bucket& bucket) {
    if (overlap) announce(bucket);
  });
  if (!overlap) announce(run_.workload.buckets().back());
  ctx.stream->wait(*negotiated);
  wait_for(ctx, state_->exchanges);
  for (Bucket& bucket : run_.workload.buckets()) run_.optimizer.step(ctx, bucket);
}

}  // namespace trigram
