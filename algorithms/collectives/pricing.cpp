#include "algorithms/collectives/pricing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"
#include "core/collective_pricer.h"
#include "core/device/null_device.h"
#include "core/device/timed_device.h"

namespace trigram {
namespace {

/// Adds up costs, all of the same kind.
class CostSum final : public CostSink {
 public:
  void charge(const Cost& cost) override {
    const int before = sum_.is_noop() ? 0 : sum_.launches;
    sum_ = {sum_.bytes + cost.bytes, sum_.flops + cost.flops, cost.kind, before + cost.launches};
  }
  const Cost& sum() const { return sum_; }

 private:
  Cost sum_;
};

/// The cost of an operation, found by running it on a device that computes nothing.
template <class Operation>
Cost cost_of(Context ctx, const Operation& operation) {
  CostSum costs;
  NullDevice nothing;
  TimedDevice dry(nothing, costs);
  ctx.device = &dry;
  operation(ctx);
  return costs.sum();
}

bool has_values(const Tensor& x) { return !x.is_phantom(); }

int right_of(Context ctx) { return (ctx.rank() + 1) % ctx.size(); }

/// The priced bytes of x, not counting one of its P parts.
std::size_t nbytes_without(Context ctx, const Tensor& x, int part) {
  const auto P = static_cast<std::size_t>(ctx.size());
  return x.priced_nbytes() - x.part(static_cast<std::size_t>(part), P).priced_nbytes();
}

/// The rounds of a reduce-scatter of x, with the computation in each round.
CollectivePattern::Phase reducing(Context ctx, const Tensor& x, Reduce op) {
  const Tensor part = longest_part(x, static_cast<std::size_t>(ctx.size()));
  return {ctx.size() - 1, cost_of(ctx, [&](Context dry) { accumulate(dry, op, part, part); }),
          cost_of(ctx, [&](Context dry) { finish_reduction(dry, op, part); })};
}

/// Runs `messages` as a ring in which this rank sends `bytes` bytes in total to its right
/// neighbour.
void run_as(Context ctx, CollectivePattern ring, std::size_t bytes, const Messages& messages) {
  const int rounds = ring.phases[0].rounds + ring.phases[1].rounds;
  const CollectivePattern::Sent sent[] = {
      {right_of(ctx), static_cast<std::uint64_t>(rounds), bytes}};
  ring.sent = sent;
  ctx.comm->pricer()->price(ring, [&](bool) { messages(); });
}

/// Runs `messages` as a reduce-scatter if `op` is given, followed by an allgather if `gathers` is
/// true.
void run_as_ring(Context ctx, const Tensor& x, std::optional<Reduce> op, bool gathers,
                 const Messages& messages) {
  if (ctx.size() == 1 || !ctx.comm->pricer()) return messages();
  CollectivePattern ring{.first_part = op ? -1 : 0, .valued = has_values(x)};
  std::size_t bytes = 0, phases = 0;
  if (op) {
    ring.phases[phases++] = reducing(ctx, x, *op);
    bytes += nbytes_without(ctx, x, ctx.rank());
  }
  if (gathers) {
    ring.phases[phases++] = {ctx.size() - 1};
    bytes += nbytes_without(ctx, x, right_of(ctx));
  }
  ring.part_nbytes = [&x, P = static_cast<std::size_t>(ctx.size())](std::size_t i) {
    return x.part(i, P).priced_nbytes();
  };
  run_as(ctx, ring, bytes, messages);
}

std::vector<std::size_t> nbytes_of(std::span<const Tensor> parts) {
  std::vector<std::size_t> nbytes;
  for (const Tensor& part : parts) nbytes.push_back(part.priced_nbytes());
  return nbytes;
}

std::size_t sum_of(const std::vector<std::size_t>& nbytes) {
  return std::accumulate(nbytes.begin(), nbytes.end(), std::size_t{0});
}

}  // namespace

void run_as_ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op, const Messages& messages) {
  run_as_ring(ctx, x, op, /*gathers=*/false, messages);
}

void run_as_ring_allgather(Context ctx, const Tensor& x, const Messages& messages) {
  run_as_ring(ctx, x, {}, /*gathers=*/true, messages);
}

void run_as_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Messages& messages) {
  run_as_ring(ctx, x, op, /*gathers=*/true, messages);
}

void run_as_ring_allgather(Context ctx, std::span<const Tensor> parts, const Messages& messages) {
  if (ctx.size() == 1 || !ctx.comm->pricer()) return messages();
  const std::vector<std::size_t> nbytes = nbytes_of(parts);
  CollectivePattern ring{.phases = {{{ctx.size() - 1}}},
                         .valued = std::ranges::any_of(parts, has_values)};
  ring.part_nbytes = [&nbytes](std::size_t i) { return nbytes[i]; };
  run_as(ctx, ring, sum_of(nbytes) - nbytes[static_cast<std::size_t>(right_of(ctx))], messages);
}

void run_as_chain(Context ctx, std::span<const Tensor> pieces, bool last,
                  const std::function<void(Context)>& work, const Messages& messages) {
  CollectivePricer* pricer = ctx.comm->pricer();
  if (!pricer) return messages();
  const std::vector<std::size_t> nbytes = nbytes_of(pieces);
  const CollectivePattern::Sent sent[] = {{right_of(ctx), pieces.size(), sum_of(nbytes)}};
  CollectivePattern chain{.shape = CollectivePattern::chain,
                          .phases = {{{static_cast<int>(pieces.size()), cost_of(ctx, work)}}},
                          .part_nbytes = [&nbytes](std::size_t i) { return nbytes[i]; },
                          .valued = has_values(pieces[0])};
  if (!last) chain.sent = sent;
  pricer->price(chain, [&](bool) { messages(); });
}

void transfer_at_once(Context ctx, std::span<const Transfer> batch, TrafficClass traffic) {
  const auto transfer = [&] {
    if (!batch.empty()) ctx.comm->transfer(batch);
  };
  CollectivePricer* pricer = ctx.comm->pricer();
  if (!pricer) return transfer();
  std::vector<CollectivePattern::Sent> sent;
  for (const Transfer& t : batch)
    if (t.kind == Transfer::send)
      sent.push_back({t.peer, 1, t.tensor.priced_nbytes(), t.traffic == TrafficClass::answer});
  pricer->price({.shape = CollectivePattern::h_relation,
                 .phases = {{{1}}},
                 .sent = sent,
                 .traffic = traffic,
                 .valued = std::ranges::any_of(
                     batch, [](const Transfer& t) { return has_values(t.tensor); })},
                [&](bool) { transfer(); });
}

}  // namespace trigram
