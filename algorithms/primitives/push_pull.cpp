#include "algorithms/primitives/push_pull.h"

#include <algorithm>
#include <cmath>

namespace trigram {

PushPull::PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers,
                   std::size_t partition_bytes, double early)
    : servers_(servers) {
  for (const Bucket& bucket : buckets)
    for (const Tensor& part : partitions(bucket.grad, partition_bytes))
      partitions_.push_back({bucket.index, part});
  const auto in_order = std::ceil(early * static_cast<double>(partitions_.size()));
  std::stable_sort(partitions_.begin() + static_cast<std::ptrdiff_t>(in_order), partitions_.end(),
                   [](const Partition& a, const Partition& b) { return a.bucket > b.bucket; });
  if (!servers_.include(ctx.rank())) return;
  std::size_t numel = 0, priced_numel = 0;
  for (const Partition& p : partitions_) {
    numel = std::max(numel, p.grad.numel());
    priced_numel = std::max(priced_numel, p.grad.priced_numel());
  }
  for (int j = 0; j < ctx.size(); ++j)
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
  std::vector<Transfer> batch;
  if (r < rounds()) for_each(r, [&](const Tensor& x, int server) { push(c, x, server, batch); });
  if (r > 0) for_each(r - 1, [&](const Tensor& x, int server) { pull(c, x, server, batch); });
  if (batch.empty()) return;  // one rank alone
  c.comm->transfer(batch);
  if (r == rounds()) return;
  for_each(r, [&](const Tensor& x, int server) {
    if (server == c.rank()) average(c, x);
  });
}

template <class F>
void PushPull::for_each(std::size_t round, F f) const {
  const std::size_t first = round * servers_.count();
  for (std::size_t s = 0; s < servers_.count() && first + s < partitions_.size(); ++s)
    f(partitions_[first + s].grad, servers_.rank_of(s));
}

/// What rank j pushed of partition x, on its server.
Tensor PushPull::pushed_by(int j, Context c, const Tensor& x) const {
  return j == c.rank() ? x : room_[static_cast<std::size_t>(j)].like(x);
}

void PushPull::push(Context c, const Tensor& x, int server, std::vector<Transfer>& batch) const {
  if (server != c.rank()) return batch.push_back({Transfer::send, x, server});
  for (int j = 0; j < c.size(); ++j)
    if (j != server) batch.push_back({Transfer::recv, pushed_by(j, c, x), j});
}

void PushPull::pull(Context c, const Tensor& x, int server, std::vector<Transfer>& batch) const {
  if (server != c.rank()) return batch.push_back({Transfer::recv, x, server});
  for (int j = 0; j < c.size(); ++j)
    if (j != server) batch.push_back({Transfer::send, x, j});
}

void PushPull::average(Context c, const Tensor& x) const {
  const Tensor sum = room_[static_cast<std::size_t>(c.rank())].like(x);
  c.device->copy(sum, pushed_by(0, c, x));
  for (int j = 1; j < c.size(); ++j) c.device->axpby(1, pushed_by(j, c, x), 1, sum);
  c.device->axpby(1.0f / static_cast<float>(c.size()), sum, 0, x);
}

}  // namespace trigram
