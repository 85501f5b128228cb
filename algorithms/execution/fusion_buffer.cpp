#include "algorithms/execution/fusion_buffer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "algorithms/collectives/halving_doubling.h"
#include "algorithms/execution/control_tag.h"
#include "core/config/fields.h"
#include "core/config/option_type.h"

namespace trigram {
namespace {

// In a cycle a rank receives at most one message with a given source and tag, except for
// `kReadyTag`. So a message from a rank that is one cycle ahead cannot be confused with one of this
// cycle.

/// The allreduce by which the ranks agree in a cycle: recursive doubling on the control plane, like
/// MPI's allreduce of a few bytes. It takes the latencies of lg P messages, and of two more if P is
/// not a power of two.
class Negotiation {
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
  std::optional<std::size_t> least(Control& control, std::size_t own) const {
    if (folded_) {
      tell(control, partner_, kFoldTag, own);
      return hear(control, kUnfoldTag);
    }
    std::optional<std::size_t> least = own;
    if (partner_ >= 0) least = lesser(own, hear(control, kFoldTag));
    for (std::size_t round = 0; least && round < peers_.size(); ++round) {
      const int tag = kNegotiationRound0 + static_cast<int>(round);
      tell(control, peers_[round], tag, *least);
      least = lesser(*least, hear(control, tag));
    }
    if (least && partner_ >= 0) tell(control, partner_, kUnfoldTag, *least);
    return least;
  }

 private:
  static void tell(Control& control, int rank, int tag, std::size_t number) {
    control.post(rank, tag, static_cast<std::int64_t>(number));
  }
  static std::optional<std::size_t> hear(Control& control, int tag) {
    const auto message = control.receive(tag);
    if (!message) return std::nullopt;
    return static_cast<std::size_t>(message->a);
  }
  static std::optional<std::size_t> lesser(std::size_t own, std::optional<std::size_t> other) {
    if (!other) return std::nullopt;
    return std::min(own, *other);
  }

  bool folded_ = false;
  int partner_ = -1;        // the other rank of the pair, or -1; see Fold
  std::vector<int> peers_;  // by round
};

}  // namespace

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

/// State shared by the tasks. The main stream uses it between iterations, and the negotiation
/// stream otherwise.
struct FusionBuffer::Agent {
  FusionCycle cycle;
  Exchange exchange;
  Tensor gradients;
  std::vector<Tensor> buckets;                   // the buckets' gradients, one after another
  std::vector<std::shared_ptr<Work>> exchanges;  // of this iteration
  Control* control = nullptr;                    // of the negotiation stream
  Negotiation negotiation;
  double began_s = -std::numeric_limits<double>::infinity();  // start of the last cycle

  /// Runs cycles until all buckets of an iteration have been handed to `comm`.
  void run_cycles(Context c, Stream& comm, long step) {
    std::size_t ready = 0, begin = 0;  // begin: in elements
    for (std::size_t done = 0; done < buckets.size();) {
      // If the cycle time is 0, a cycle starts only when a bucket becomes ready.
      while (cycle.cycle_s == 0 && ready <= done) {
        const auto message = c.control->receive(kReadyTag);
        if (!message) return;
        ready = static_cast<std::size_t>(message->a);
      }
      begin_cycle(*c.stream);
      while (const auto message = c.control->poll(kReadyTag))
        ready = static_cast<std::size_t>(message->a);
      const auto agreed = negotiate(c, ready);
      if (!agreed) return;
      while (done < *agreed)
        begin = fuse(c, comm, {static_cast<int>(done), step}, done, *agreed, begin);
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
      agreed = negotiation.least(*c.control, *agreed);
    return agreed;
  }

  /// Submits buckets from `done` on to `comm`, as many as fit the buffer. Returns the first element
  /// of the next bucket.
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
  ctx.stream->wait(*negotiation_->submit(ctx, [agent = agent_](Context c) {
    agent->control = c.control;
    agent->negotiation = Negotiation(c);
  }));
}

FusionBuffer::~FusionBuffer() = default;

void FusionBuffer::step(Context ctx) {
  agent_->exchanges.clear();
  const auto negotiated =
      negotiation_->submit(ctx, [agent = agent_, comm = comm_.get(), step = run_.steps.current()](
                                    Context c) { agent->run_cycles(c, *comm, step); });
  // The stream `ready_` reaches this task when the bucket's gradient is complete, and then tells
  // the negotiation.
  auto announce = [&](const Bucket& bucket) {
    ready_->submit(ctx, [control = agent_->control, count = bucket.index + 1](Context c) {
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
  for (const auto& exchange : agent_->exchanges) ctx.stream->wait(*exchange);
  for (Bucket& bucket : run_.workload.buckets()) run_.optimizer.step(ctx, bucket);
}

}  // namespace trigram
