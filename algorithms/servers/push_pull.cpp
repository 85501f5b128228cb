#include "algorithms/servers/push_pull.h"

#include <algorithm>

#include "algorithms/collectives/pricing.h"
#include "algorithms/execution/hierarchy.h"
#include "core/subset.h"

namespace trigram {
namespace {

/// The rank's number among the ranks that push and serve; -1 for ranks represented by their node
/// leader.
int number(const Context& ctx, bool by_nodes) {
  if (!by_nodes) return ctx.rank();
  return ctx.layout->is_leader(ctx.world_rank) ? ctx.layout->node_of(ctx.world_rank) : -1;
}

/// The buffer of the i-th short message of a batch.
Tensor slot_of(const Tensor& room, std::size_t i, std::size_t nbytes) {
  constexpr std::size_t kElement = size_of(DType::f32);
  return room.slice(i * PushPull::kRequest_bytes / kElement, nbytes / kElement);
}

}  // namespace

PushPull::PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers,
                   const Options& options)
    : servers_(servers),
      workers_(servers.workers()),
      options_(options),
      partitions_(assign(buckets, servers.count(), options.partition_bytes, options.early,
                         options.assignment)),
      completes_(buckets.size()) {
  for (const Partition& p : partitions_)
    completes_[static_cast<std::size_t>(p.bucket)] = p.round + answer_after();
  const std::vector<int>& ranks = workers_.ranks;
  const int own = number(ctx, options.execution.hierarchical);
  own_ = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), own) - ranks.begin());
  if (options.acknowledged) {
    acknowledgements_ = room_for_notices(*ctx.device, own);
    requests_ = room_for_notices(*ctx.device, own);
  }
  if (!servers_.include(own)) return;
  std::size_t numel = 0, priced_numel = 0;
  for (const Partition& p : partitions_) {
    numel = std::max(numel, p.begin + p.grad.numel());
    priced_numel = std::max(priced_numel, p.grad.priced_numel());
  }
  const Tensor longest = Tensor::phantom(numel, DType::f32, priced_numel);
  for (std::size_t j = 0; j < std::max(ranks.size(), own_ + 1); ++j)
    room_.push_back(ctx.device->empty_like(longest));
}

/// A tensor with room for the largest number of short messages in a batch: the acknowledgements or
/// the requests of a round.
Tensor PushPull::room_for_notices(Device& device, int own) const {
  std::size_t most = 0;
  for (std::size_t r = 0; r < rounds(); ++r) {
    std::size_t count = 0;
    for (const Partition& x : of_round(r)) count += server_of(x) == own ? workers_.ranks.size() : 1;
    most = std::max(most, count);
  }
  return device.empty(2 * most * kRequest_bytes / size_of(DType::f32));
}

int PushPull::needs(std::size_t r) const {
  int last = 0;
  for (const Partition& x : of_round(r)) last = std::max(last, x.bucket);
  return last;
}

std::size_t PushPull::completes(int bucket) const {
  return completes_[static_cast<std::size_t>(bucket)];
}

std::vector<int> PushPull::order() const {
  std::vector<int> buckets;
  for (const Partition& p : partitions_)
    if (std::find(buckets.begin(), buckets.end(), p.bucket) == buckets.end())
      buckets.push_back(p.bucket);
  std::stable_sort(buckets.begin(), buckets.end(),
                   [&](int a, int b) { return completes(a) < completes(b); });
  return buckets;
}

void PushPull::exchange(Context c, std::size_t r) const {
  Batch batch = {.push = of_round(r), .answer = before(answer_after(), r)};
  if (options_.acknowledged) {
    batch.acknowledge = before(1, r);
    batch.request = before(2, r);
  }
  reduce(c, batch.push);
  among_servers(c, [&](Context among) { exchange_among_servers(among, batch); });
  broadcast(c, batch.answer);
}

void PushPull::send(Stage stage, Context c, std::size_t r) const {
  pass(Transfer::send, stage, c, r);
}

void PushPull::receive(Stage stage, Context c, std::size_t r) const {
  pass(Transfer::recv, stage, c, r);
}

void PushPull::reduce(Context c, std::size_t r) const { reduce(c, of_round(r)); }

void PushPull::broadcast(Context c, std::size_t r) const { broadcast(c, of_round(r)); }

void PushPull::pass(Transfer::Kind kind, Stage stage, Context c, std::size_t r) const {
  among_servers(c, [&](Context among) { pass_among_servers(kind, stage, among, r); });
}

/// Calls `among` with the context of the ranks that push and serve: all ranks or, in hierarchical
/// execution, the node leaders.
template <class Among>
void PushPull::among_servers(Context c, Among among) const {
  if (!options_.execution.hierarchical) return among(c);
  if (!c.layout->is_leader(c.world_rank)) return;
  Subset leaders(*c.comm, c.layout->leaders());
  among(c.with(leaders));
}

void PushPull::reduce(Context c, std::span<const Partition> partitions) const {
  if (!options_.execution.hierarchical || partitions.empty()) return;
  Subset node(*c.comm, c.layout->node_members(c.world_rank));
  reduce_in_node(c.with(node), grads_of(partitions), options_.execution.segment_bytes);
}

void PushPull::broadcast(Context c, std::span<const Partition> partitions) const {
  if (!options_.execution.hierarchical || partitions.empty()) return;
  Subset node(*c.comm, c.layout->node_members(c.world_rank));
  broadcast_in_node(c.with(node), grads_of(partitions), options_.execution.segment_bytes);
}

PushPull::Batch PushPull::batch_of(Stage stage, std::size_t r) const {
  switch (stage) {
    case Stage::push: return {.push = of_round(r)};
    case Stage::acknowledge: return {.acknowledge = of_round(r)};
    case Stage::request: return {.request = of_round(r)};
    case Stage::answer: return {.answer = of_round(r)};
  }
  return {};
}

/// The partitions of round r. Empty if there is no such round.
std::span<const Partition> PushPull::of_round(std::size_t r) const {
  const auto [begin, end] = std::ranges::equal_range(partitions_, r, {}, &Partition::round);
  return {begin, end};
}

/// The round that was pushed `exchanges` exchanges before exchange r; empty if there is none.
std::span<const Partition> PushPull::before(std::size_t exchanges, std::size_t r) const {
  return r < exchanges ? std::span<const Partition>() : of_round(r - exchanges);
}

std::vector<Tensor> PushPull::grads_of(std::span<const Partition> partitions) const {
  std::vector<Tensor> grads;
  for (const Partition& x : partitions) grads.push_back(x.grad);
  return grads;
}

/// Short messages come first, so that none waits until the bytes of a partition are sent.
std::vector<Transfer> PushPull::transfers_of(Context c, const Batch& batch) const {
  std::vector<Transfer> transfers;
  for (const Partition& x : batch.acknowledge) acknowledge(c, x, transfers);
  for (const Partition& x : batch.request) request(c, x, transfers);
  for (const Partition& x : batch.push) push(c, x, transfers);
  for (const Partition& x : batch.answer) answer(c, x, transfers);
  return transfers;
}

void PushPull::exchange_among_servers(Context c, const Batch& batch) const {
  const std::vector<Transfer> transfers = transfers_of(c, batch);
  const auto at_host = pass_host(c, batch.push);
  if (c.size() > 1) {
    transfer_at_once(c, transfers, TrafficClass::server);
    for (const Partition& x : batch.push)
      if (server_of(x) == c.rank()) average(c, x);
  }
  if (at_host) c.stream->wait(*at_host);
}

/// A worker's bytes cross its host when it pushes them. On a rank that only serves, bytes cross the
/// host when they arrive.
void PushPull::pass_among_servers(Transfer::Kind kind, Stage stage, Context c,
                                  std::size_t r) const {
  const Batch batch = batch_of(stage, r);
  std::vector<Transfer> transfers = transfers_of(c, batch);
  std::erase_if(transfers, [kind](const Transfer& t) { return t.kind != kind; });
  const bool at_host = works() == (kind == Transfer::send);
  const auto through_host = at_host ? pass_host(c, batch.push) : nullptr;
  if (!transfers.empty()) c.comm->transfer(transfers);
  if (kind == Transfer::recv && c.size() > 1)
    for (const Partition& x : batch.push)
      if (server_of(x) == c.rank()) average(c, x);
  if (through_host) c.stream->wait(*through_host);
}

/// Charges the bytes of a round that cross this host; null if none do.
std::shared_ptr<Work> PushPull::pass_host(Context c, std::span<const Partition> pushed) const {
  if (!options_.host) return nullptr;
  std::size_t nbytes = 0;
  for (const Partition& x : pushed) {
    if (works()) nbytes += x.grad.priced_nbytes();
    else if (server_of(x) == c.rank()) nbytes += workers_.ranks.size() * x.grad.priced_nbytes();
  }
  if (nbytes == 0) return nullptr;
  const Cost cost{.bytes = static_cast<double>(nbytes), .kind = Cost::Kind::host};
  return options_.host->submit(c, [cost](Context host) { host.stream->charge(cost); });
}

/// The part of buffer j that belongs to partition x.
Tensor PushPull::room(std::size_t j, const Partition& x) const {
  return room_[j].slice(x.begin, x.grad.numel(), x.grad.priced_numel());
}

/// The gradient that worker j has pushed for partition x, on the partition's server.
Tensor PushPull::pushed_by(std::size_t j, Context c, const Partition& x) const {
  return workers_.ranks[j] == c.rank() ? x.grad : room(j, x);
}

void PushPull::push(Context c, const Partition& x, std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  if (server != c.rank()) {
    if (works()) batch.push_back({Transfer::send, x.grad, server, TrafficClass::server});
    return;
  }
  for (std::size_t j = 0; j < workers_.ranks.size(); ++j)
    if (workers_.ranks[j] != server)
      batch.push_back(
          {Transfer::recv, pushed_by(j, c, x), workers_.ranks[j], TrafficClass::server});
}

void PushPull::acknowledge(Context c, const Partition& x, std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  const auto add = [&](Transfer::Kind kind, int peer) {
    batch.push_back({kind, slot_of(acknowledgements_, batch.size(), kAcknowledgement_bytes), peer,
                     TrafficClass::answer});
  };
  if (server != c.rank()) {
    if (works()) add(Transfer::recv, server);
    return;
  }
  for (const int worker : workers_.ranks)
    if (worker != server) add(Transfer::send, worker);
}

void PushPull::request(Context c, const Partition& x, std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  const auto add = [&](Transfer::Kind kind, int peer) {
    batch.push_back(
        {kind, slot_of(requests_, batch.size(), kRequest_bytes), peer, TrafficClass::server});
  };
  if (server != c.rank()) {
    if (works()) add(Transfer::send, server);
    return;
  }
  for (const int worker : workers_.ranks)
    if (worker != server) add(Transfer::recv, worker);
}

void PushPull::answer(Context c, const Partition& x, std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  if (server != c.rank()) {
    if (works()) batch.push_back({Transfer::recv, x.grad, server, TrafficClass::answer});
    return;
  }
  for (const int worker : workers_.ranks)
    if (worker != server) batch.push_back({Transfer::send, x.grad, worker, TrafficClass::answer});
}

void PushPull::average(Context c, const Partition& x) const {
  const Tensor sum = room(own_, x);
  c.device->copy(sum, pushed_by(0, c, x));
  for (std::size_t j = 1; j < workers_.ranks.size(); ++j)
    c.device->axpby(1, pushed_by(j, c, x), 1, sum);
  c.device->axpby(1.0f / static_cast<float>(workers_.count()), sum, 0, x.grad);
}

}  // namespace trigram
