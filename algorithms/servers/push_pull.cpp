#include "algorithms/servers/push_pull.h"

#include <algorithm>

#include "algorithms/collectives/pricing.h"
#include "algorithms/execution/hierarchy.h"
#include "core/subset.h"

namespace trigram {
namespace {

/// The rank's number among the ranks that push and serve; -1 for ranks represented by their node
/// leader.
int number_of(const Context& ctx, bool by_nodes) {
  if (!by_nodes) return ctx.rank();
  return ctx.layout->is_leader(ctx.world_rank) ? ctx.layout->node_of(ctx.world_rank) : -1;
}

/// The part of `buffer` for the i-th message of a batch, which is an acknowledgement or a request.
Tensor notice_buffer(const Tensor& buffer, std::size_t i, std::size_t nbytes) {
  constexpr std::size_t kElement = size_of(DType::f32);
  return buffer.slice(i * PushPull::kRequest_bytes / kElement, nbytes / kElement);
}

}  // namespace

PushPull::PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers,
                   const Options& options)
    : servers_(servers),
      workers_(servers.workers()),
      options_(options),
      partitions_(assign(buckets, servers.count(), options.partition_bytes, options.early,
                         options.assignment)),
      completing_(buckets.size()) {
  for (const Partition& p : partitions_)
    completing_[static_cast<std::size_t>(p.bucket)] = p.round + answer_after();
  const std::vector<int>& ranks = workers_.ranks;
  const int own = number_of(ctx, options.execution.hierarchical);
  own_ = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), own) - ranks.begin());
  if (options.acknowledged) {
    acknowledgements_ = notices_buffer(*ctx.device, own);
    requests_ = notices_buffer(*ctx.device, own);
  }
  if (!servers_.include(own)) return;
  std::size_t numel = 0, priced_numel = 0;
  for (const Partition& p : partitions_) {
    numel = std::max(numel, p.begin + p.grad.numel());
    priced_numel = std::max(priced_numel, p.grad.priced_numel());
  }
  const Tensor longest = Tensor::phantom(numel, DType::f32, priced_numel);
  for (std::size_t j = 0; j < std::max(ranks.size(), own_ + 1); ++j)
    buffers_.push_back(ctx.device->empty_like(longest));
}

/// A buffer for the acknowledgements or the requests of any batch.
Tensor PushPull::notices_buffer(Device& device, int own) const {
  std::size_t largest = 0;  // number of such messages of a round
  for (std::size_t r = 0; r < rounds(); ++r) {
    std::size_t count = 0;
    for (const Partition& x : of_round(r)) count += server_of(x) == own ? workers_.ranks.size() : 1;
    largest = std::max(largest, count);
  }
  return device.empty(2 * largest * kRequest_bytes / size_of(DType::f32));
}

int PushPull::last_bucket(std::size_t r) const {
  int last = 0;
  for (const Partition& x : of_round(r)) last = std::max(last, x.bucket);
  return last;
}

std::size_t PushPull::completing_exchange(int bucket) const {
  return completing_[static_cast<std::size_t>(bucket)];
}

std::vector<int> PushPull::order() const {
  std::vector<int> buckets;
  for (const Partition& p : partitions_)
    if (std::find(buckets.begin(), buckets.end(), p.bucket) == buckets.end())
      buckets.push_back(p.bucket);
  std::stable_sort(buckets.begin(), buckets.end(),
                   [&](int a, int b) { return completing_exchange(a) < completing_exchange(b); });
  return buckets;
}

void PushPull::exchange(Context c, std::size_t r) const {
  Batch batch = {.push = of_round(r), .answer = before(answer_after(), r)};
  if (options_.acknowledged) {
    batch.acknowledge = before(1, r);
    batch.request = before(2, r);
  }
  reduce(c, batch.push);
  with_servers(c, [&](Context servers) { exchange_with_servers(servers, batch); });
  broadcast(c, batch.answer);
}

void PushPull::send(Stage stage, Context c, std::size_t r) const {
  with_servers(c, [&](Context servers) { transfer_stage(Transfer::send, stage, servers, r); });
}

void PushPull::receive(Stage stage, Context c, std::size_t r) const {
  with_servers(c, [&](Context servers) { transfer_stage(Transfer::recv, stage, servers, r); });
}

void PushPull::reduce(Context c, std::size_t r) const { reduce(c, of_round(r)); }

void PushPull::broadcast(Context c, std::size_t r) const { broadcast(c, of_round(r)); }

/// Calls `body` with the context of the ranks that push and serve: all ranks or, in hierarchical
/// execution, the node leaders. Does nothing on other ranks.
template <class Body>
void PushPull::with_servers(Context c, Body body) const {
  if (!options_.execution.hierarchical) return body(c);
  if (!c.layout->is_leader(c.world_rank)) return;
  Subset leaders(*c.comm, c.layout->leaders());
  body(c.with(leaders));
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

/// Short messages come first, so that they do not wait until the bytes of a partition are sent.
std::vector<Transfer> PushPull::transfers_of(Context c, const Batch& batch) const {
  std::vector<Transfer> transfers;
  for (const Partition& x : batch.acknowledge) add_messages(c, Stage::acknowledge, x, transfers);
  for (const Partition& x : batch.request) add_messages(c, Stage::request, x, transfers);
  for (const Partition& x : batch.push) add_messages(c, Stage::push, x, transfers);
  for (const Partition& x : batch.answer) add_messages(c, Stage::answer, x, transfers);
  return transfers;
}

void PushPull::exchange_with_servers(Context c, const Batch& batch) const {
  const std::vector<Transfer> transfers = transfers_of(c, batch);
  const auto host_work = charge_host(c, batch.push);
  if (c.size() > 1) {
    transfer_at_once(c, transfers, TrafficClass::server);
    average(c, batch.push);
  }
  if (host_work) c.stream->wait(*host_work);
}

/// A worker's bytes cross its host when it pushes them. On a rank that only serves, bytes cross the
/// host when they arrive.
void PushPull::transfer_stage(Transfer::Kind kind, Stage stage, Context c, std::size_t r) const {
  const Batch batch = batch_of(stage, r);
  std::vector<Transfer> transfers = transfers_of(c, batch);
  std::erase_if(transfers, [kind](const Transfer& t) { return t.kind != kind; });
  const bool crosses_host = is_worker() == (kind == Transfer::send);
  const auto host_work = crosses_host ? charge_host(c, batch.push) : nullptr;
  if (!transfers.empty()) c.comm->transfer(transfers);
  if (kind == Transfer::recv && c.size() > 1) average(c, batch.push);
  if (host_work) c.stream->wait(*host_work);
}

/// Charges the bytes of a round that cross this host; null if none do.
std::shared_ptr<Work> PushPull::charge_host(Context c, std::span<const Partition> pushed) const {
  if (!options_.host) return nullptr;
  std::size_t nbytes = 0;
  for (const Partition& x : pushed) {
    if (is_worker()) nbytes += x.grad.priced_nbytes();
    else if (server_of(x) == c.rank()) nbytes += workers_.ranks.size() * x.grad.priced_nbytes();
  }
  if (nbytes == 0) return nullptr;
  const Cost cost{.bytes = static_cast<double>(nbytes), .kind = Cost::Kind::host};
  return options_.host->submit(c, [cost](Context host) { host.stream->charge(cost); });
}

/// The part of worker j's buffer that belongs to partition x.
Tensor PushPull::buffer(std::size_t j, const Partition& x) const {
  return buffers_[j].slice(x.begin, x.grad.numel(), x.grad.priced_numel());
}

/// Adds the messages of stage `stage` for a partition, as far as this rank sends or receives them:
/// between each worker and the server, unless they are the same rank.
void PushPull::add_messages(Context c, Stage stage, const Partition& x,
                            std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  const bool to_server = stage == Stage::push || stage == Stage::request;
  const bool sends = to_server != (server == c.rank());
  const auto add = [&](const Tensor& tensor, int peer) {
    const bool answers = stage == Stage::acknowledge || stage == Stage::answer;
    batch.push_back({sends ? Transfer::send : Transfer::recv, tensor, peer,
                     answers ? TrafficClass::answer : TrafficClass::server});
  };
  const auto tensor = [&](std::size_t worker) -> Tensor {
    switch (stage) {
      case Stage::push: return worker == own_ ? x.grad : buffer(worker, x);
      case Stage::acknowledge:
        return notice_buffer(acknowledgements_, batch.size(), kAcknowledgement_bytes);
      case Stage::request: return notice_buffer(requests_, batch.size(), kRequest_bytes);
      case Stage::answer: break;
    }
    return x.grad;
  };
  if (server != c.rank()) {
    if (is_worker()) add(tensor(own_), server);
    return;
  }
  for (std::size_t j = 0; j < workers_.ranks.size(); ++j)
    if (workers_.ranks[j] != server) add(tensor(j), workers_.ranks[j]);
}

/// Averages the pushes of those partitions that this rank serves.
void PushPull::average(Context c, std::span<const Partition> pushed) const {
  for (const Partition& x : pushed) {
    if (server_of(x) != c.rank()) continue;
    const auto push_of = [&](std::size_t j) { return j == own_ ? x.grad : buffer(j, x); };
    const Tensor sum = buffer(own_, x);
    c.device->copy(sum, push_of(0));
    for (std::size_t j = 1; j < workers_.ranks.size(); ++j) c.device->axpby(1, push_of(j), 1, sum);
    c.device->axpby(1.0f / static_cast<float>(workers_.count()), sum, 0, x.grad);
  }
}

}  // namespace trigram
