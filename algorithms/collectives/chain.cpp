#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/exchange.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

/// Ranks in a row, each of which hands a tensor on to the next piece by piece.
class Chain {
 public:
  Chain(Context ctx, const Tensor& x, int first, int segments)
      : ctx_(ctx),
        x_(x),
        size_(ctx.size()),
        place_((ctx.rank() - first + size_) % size_),
        segments_(segments) {}

  bool first() const { return place_ == 0; }
  bool last() const { return place_ == size_ - 1; }
  int before() const { return (ctx_.rank() - 1 + size_) % size_; }
  int after() const { return (ctx_.rank() + 1) % size_; }
  Tensor segment(int i) const {
    return x_.part(static_cast<std::size_t>(i), static_cast<std::size_t>(segments_));
  }
  /// The longest.
  Tensor longest() const { return longest_part(x_, static_cast<std::size_t>(segments_)); }

  /// Segment i arrives, in `room(i)`, while segment i - 1 leaves; `arrived(i)` follows.
  template <class Room, class Arrived>
  void run(const Rounds::Phase& costs, Room room, Arrived arrived) const {
    const Rounds::Sent sent[] = {
        {after(), static_cast<std::uint64_t>(segments_), x_.priced_nbytes()}};
    Rounds rounds{.pattern = Rounds::chain, .phases = {{costs}}};
    rounds.phases[0].rounds = size_ - 2 + segments_;
    rounds.longest = longest().priced_nbytes();
    rounds.valued = !x_.is_phantom();
    if (!last()) rounds.sent = sent;
    ctx_.comm->coupled(rounds, [&] {
      if (!first()) {
        receive(ctx_, room(0), before());
        arrived(0);
      }
      for (int i = 1; i < segments_; ++i) {
        if (first()) send(ctx_, segment(i - 1), after());
        else if (last()) receive(ctx_, room(i), before());
        else send_receive(ctx_, segment(i - 1), after(), room(i), before());
        if (!first()) arrived(i);
      }
      if (!last()) send(ctx_, segment(segments_ - 1), after());
    });
  }

 private:
  Context ctx_;
  Tensor x_;
  int size_, place_, segments_;
};

}  // namespace

void pipelined_broadcast(Context ctx, const Tensor& x, int root, int segments) {
  if (ctx.size() == 1) return;
  const Chain chain(ctx, x, root, segments);
  chain.run(
      {}, [&](int i) { return chain.segment(i); }, [](int) {});
}

void pipelined_reduce(Context ctx, const Tensor& x, Reduce op, int root, int segments) {
  if (ctx.size() == 1) return;
  const Chain chain(ctx, x, (root + 1) % ctx.size(), segments);
  const Scratch scratch(ctx, chain.longest());
  chain.run(
      {.each = accumulation_cost(op, chain.longest())},
      [&](int i) { return scratch.like(chain.segment(i)); },
      [&](int i) {
        const Tensor mine = chain.segment(i);
        accumulate(ctx, op, scratch.like(mine), mine);
      });
  if (chain.last()) finish_reduction(ctx, op, x);
}

}  // namespace trigram
