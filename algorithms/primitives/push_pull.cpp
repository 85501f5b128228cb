#include "algorithms/primitives/push_pull.h"

#include <algorithm>

#include "algorithms/execution/execution.h"

namespace trigram {
namespace {

/// The rank's number among those who push and serve; none's inside a node that its leader speaks
/// for.
int number(const Context& ctx, bool by_nodes) {
  if (!by_nodes) return ctx.rank();
  return ctx.layout->is_leader(ctx.world_rank) ? ctx.layout->node_of(ctx.world_rank) : -1;
}

/// Messages that all ranks of the communicator make at the same time, as the h-relation they are.
void transfer_at_once(Context c, std::span<const Transfer> batch) {
  if (!c.comm->couples()) {
    if (!batch.empty()) c.comm->transfer(batch);
    return;
  }
  Rounds rounds{.pattern = Rounds::h_relation, .phases = {{{1}}}, .traffic = Pattern::server};
  std::vector<Rounds::Sent> sent;
  for (const Transfer& t : batch) {
    rounds.valued = rounds.valued || !t.tensor.is_phantom();
    if (t.kind == Transfer::send)
      sent.push_back({t.peer, 1, t.tensor.priced_nbytes(), t.pattern == Pattern::answer});
  }
  rounds.sent = sent;
  c.comm->coupled(rounds, [&] {
    if (!batch.empty()) c.comm->transfer(batch);  // else a server has nothing of these rounds
  });
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
    completes_[static_cast<std::size_t>(p.bucket)] = p.round + 1;
  const std::vector<int>& ranks = workers_.ranks;
  const int own = number(ctx, options.execution.hierarchical);
  own_ = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), own) - ranks.begin());
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
  const Execution& execution = options_.execution;
  if (!execution.hierarchical) return exchange_among_servers(c, r);
  Subset node(*c.comm, c.layout->node_members(c.world_rank));
  if (r < rounds()) reduce_in_node(c.with(node), grads_of_round(r), execution.segment_bytes);
  if (c.layout->is_leader(c.world_rank)) {
    Subset leaders(*c.comm, c.layout->leaders());
    exchange_among_servers(c.with(leaders), r);
  }
  if (r > 0) broadcast_in_node(c.with(node), grads_of_round(r - 1), execution.segment_bytes);
}

/// Empty before the first round and after the last.
std::span<const Partition> PushPull::of_round(std::size_t r) const {
  const auto [begin, end] = std::ranges::equal_range(partitions_, r, {}, &Partition::round);
  return {begin, end};
}

std::vector<Tensor> PushPull::grads_of_round(std::size_t r) const {
  std::vector<Tensor> grads;
  for (const Partition& x : of_round(r)) grads.push_back(x.grad);
  return grads;
}

void PushPull::exchange_among_servers(Context c, std::size_t r) const {
  std::vector<Transfer> batch;
  for (const Partition& x : of_round(r)) push(c, x, batch);
  if (r > 0)
    for (const Partition& x : of_round(r - 1)) pull(c, x, batch);
  const auto at_host = pass_host(c, r);
  if (c.size() > 1) {
    transfer_at_once(c, batch);
    for (const Partition& x : of_round(r))
      if (server_of(x) == c.rank()) average(c, x);
  }
  if (at_host) c.stream->wait(*at_host);
}

/// What of round r passes the rank's host; null: nothing.
std::shared_ptr<Work> PushPull::pass_host(Context c, std::size_t r) const {
  if (!options_.host) return nullptr;
  std::size_t nbytes = 0;
  for (const Partition& x : of_round(r)) {
    if (works()) nbytes += x.grad.priced_nbytes();
    else if (server_of(x) == c.rank()) nbytes += workers_.ranks.size() * x.grad.priced_nbytes();
  }
  if (nbytes == 0) return nullptr;
  const Cost cost{.bytes = static_cast<double>(nbytes), .kind = Cost::Kind::host};
  return options_.host->submit(c, [cost](Context host) { host.stream->charge(cost); });
}

/// What partition x takes of place j.
Tensor PushPull::room(std::size_t j, const Partition& x) const {
  return room_[j].slice(x.begin, x.grad.numel(), x.grad.priced_numel());
}

/// What worker j pushed of partition x, on its server.
Tensor PushPull::pushed_by(std::size_t j, Context c, const Partition& x) const {
  return workers_.ranks[j] == c.rank() ? x.grad : room(j, x);
}

void PushPull::push(Context c, const Partition& x, std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  if (server != c.rank()) {
    if (works()) batch.push_back({Transfer::send, x.grad, server, Pattern::server});
    return;
  }
  for (std::size_t j = 0; j < workers_.ranks.size(); ++j)
    if (workers_.ranks[j] != server)
      batch.push_back({Transfer::recv, pushed_by(j, c, x), workers_.ranks[j], Pattern::server});
}

void PushPull::pull(Context c, const Partition& x, std::vector<Transfer>& batch) const {
  const int server = server_of(x);
  if (server != c.rank()) {
    if (works()) batch.push_back({Transfer::recv, x.grad, server, Pattern::answer});
    return;
  }
  for (const int worker : workers_.ranks)
    if (worker != server) batch.push_back({Transfer::send, x.grad, worker, Pattern::answer});
}

void PushPull::average(Context c, const Partition& x) const {
  const Tensor sum = room(own_, x);
  c.device->copy(sum, pushed_by(0, c, x));
  for (std::size_t j = 1; j < workers_.ranks.size(); ++j)
    c.device->axpby(1, pushed_by(j, c, x), 1, sum);
  c.device->axpby(1.0f / static_cast<float>(workers_.count()), sum, 0, x.grad);
}

}  // namespace trigram
