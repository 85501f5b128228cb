#include "algorithms/primitives/push_pull.h"

#include <algorithm>
#include <cmath>

#include "algorithms/execution/execution.h"

namespace trigram {
namespace {

/// The rank's number among those who push and serve; none's inside a node that its leader speaks
/// for.
int number(const Context& ctx, bool by_nodes) {
  if (!by_nodes) return ctx.rank();
  return ctx.layout->is_leader(ctx.world_rank) ? ctx.layout->node_of(ctx.world_rank) : -1;
}

}  // namespace

PushPull::PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers,
                   const Options& options)
    : servers_(servers), workers_(servers.workers()), options_(options) {
  for (const Bucket& bucket : buckets)
    for (const Tensor& part : partitions(bucket.grad, options.partition_bytes))
      partitions_.push_back({bucket.index, part});
  const auto in_order = std::ceil(options.early * static_cast<double>(partitions_.size()));
  std::stable_sort(partitions_.begin() + static_cast<std::ptrdiff_t>(in_order), partitions_.end(),
                   [](const Partition& a, const Partition& b) { return a.bucket > b.bucket; });
  const std::vector<int>& ranks = workers_.ranks;
  const int own = number(ctx, options.execution.hierarchical);
  own_ = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), own) - ranks.begin());
  if (!servers_.include(own)) return;
  std::size_t numel = 0, priced_numel = 0;
  for (const Partition& p : partitions_) {
    numel = std::max(numel, p.grad.numel());
    priced_numel = std::max(priced_numel, p.grad.priced_numel());
  }
  for (std::size_t j = 0; j < std::max(ranks.size(), own_ + 1); ++j)
    room_.emplace_back(ctx, Tensor::phantom(numel, DType::f32, priced_numel));
}

int PushPull::needs(std::size_t r) const {
  int last = 0;
  const std::size_t first = r * servers_.count();
  for (std::size_t i = first; i < std::min(first + servers_.count(), partitions_.size()); ++i)
    last = std::max(last, partitions_[i].bucket);
  return last;
}

std::size_t PushPull::completes(int bucket) const {
  std::size_t last = partitions_.size() - 1;
  while (partitions_[last].bucket != bucket) --last;
  return last / servers_.count() + 1;
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
  if (r < rounds()) reduce_in_node(c.with(node), of_round(r), execution.segment_bytes);
  if (c.layout->is_leader(c.world_rank)) {
    Subset leaders(*c.comm, c.layout->leaders());
    exchange_among_servers(c.with(leaders), r);
  }
  if (r > 0) broadcast_in_node(c.with(node), of_round(r - 1), execution.segment_bytes);
}

std::vector<Tensor> PushPull::of_round(std::size_t r) const {
  std::vector<Tensor> grads;
  for_each(r, [&](const Tensor& x, int) { grads.push_back(x); });
  return grads;
}

void PushPull::exchange_among_servers(Context c, std::size_t r) const {
  std::vector<Transfer> batch;
  if (r < rounds()) for_each(r, [&](const Tensor& x, int server) { push(c, x, server, batch); });
  if (r > 0) for_each(r - 1, [&](const Tensor& x, int server) { pull(c, x, server, batch); });
  const auto at_host = pass_host(c, r);
  if (!batch.empty()) {  // else one rank is alone, or a server has nothing of these rounds
    c.comm->transfer(batch);
    for_each(r, [&](const Tensor& x, int server) {
      if (server == c.rank()) average(c, x);
    });
  }
  if (at_host) c.stream->wait(*at_host);
}

/// What of round r passes the rank's host; null: nothing.
std::shared_ptr<Work> PushPull::pass_host(Context c, std::size_t r) const {
  if (!options_.host) return nullptr;
  std::size_t nbytes = 0;
  for_each(r, [&](const Tensor& x, int server) {
    if (works()) nbytes += x.priced_nbytes();
    else if (server == c.rank()) nbytes += workers_.ranks.size() * x.priced_nbytes();
  });
  if (nbytes == 0) return nullptr;
  const Cost cost{.bytes = static_cast<double>(nbytes), .kind = Cost::Kind::host};
  return options_.host->submit(c, [cost](Context host) { host.stream->charge(cost); });
}

template <class F>
void PushPull::for_each(std::size_t round, F f) const {
  const std::size_t first = round * servers_.count();
  for (std::size_t s = 0; s < servers_.count() && first + s < partitions_.size(); ++s)
    f(partitions_[first + s].grad, servers_.rank_of(s));
}

/// What worker j pushed of partition x, on its server.
Tensor PushPull::pushed_by(std::size_t j, Context c, const Tensor& x) const {
  return workers_.ranks[j] == c.rank() ? x : room_[j].like(x);
}

void PushPull::push(Context c, const Tensor& x, int server, std::vector<Transfer>& batch) const {
  if (server != c.rank()) {
    if (works()) batch.push_back({Transfer::send, x, server, Pattern::server});
    return;
  }
  for (std::size_t j = 0; j < workers_.ranks.size(); ++j)
    if (workers_.ranks[j] != server)
      batch.push_back({Transfer::recv, pushed_by(j, c, x), workers_.ranks[j], Pattern::server});
}

void PushPull::pull(Context c, const Tensor& x, int server, std::vector<Transfer>& batch) const {
  if (server != c.rank()) {
    if (works()) batch.push_back({Transfer::recv, x, server, Pattern::server});
    return;
  }
  for (const int worker : workers_.ranks)
    if (worker != server) batch.push_back({Transfer::send, x, worker, Pattern::server});
}

void PushPull::average(Context c, const Tensor& x) const {
  const Tensor sum = room_[own_].like(x);
  c.device->copy(sum, pushed_by(0, c, x));
  for (std::size_t j = 1; j < workers_.ranks.size(); ++j)
    c.device->axpby(1, pushed_by(j, c, x), 1, sum);
  c.device->axpby(1.0f / static_cast<float>(workers_.count()), sum, 0, x);
}

}  // namespace trigram
