#include "algorithms/asynchronous/throughput_balancer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "algorithms/execution/control_tag.h"

namespace trigram {

std::vector<long> deal_by_throughput(std::int64_t samples, std::span<const std::int64_t> batch,
                                     std::span<const double> batches_per_s) {
  using FreeAt = std::pair<double, std::size_t>;  // seconds after the begin of the step, and rank
  std::priority_queue<FreeAt, std::vector<FreeAt>, std::greater<>> free_at;
  for (std::size_t rank = 0; rank < batch.size(); ++rank) free_at.push({0, rank});
  std::vector<long> counts(batch.size());
  std::size_t dealt = 0;
  for (std::int64_t left = samples; left > 0 || dealt < batch.size(); ++dealt) {
    const std::size_t rank = free_at.top().second;
    free_at.pop();
    left -= batch[rank];
    ++counts[rank];
    free_at.push({static_cast<double>(counts[rank]) / batches_per_s[rank], rank});
  }
  return counts;
}

ThroughputBalancer::ThroughputBalancer(Context ctx, std::size_t batch, double smoothing,
                                       const TrainingState& state)
    : smoothing_(smoothing),
      received_(static_cast<std::size_t>(ctx.world_size)),
      batch_(gather(ctx, static_cast<std::int64_t>(batch))),
      batch_s_(state.values<double>(fmt::format("batch_s_of_{}", batch_.size()), batch_.size(), 1)),
      steps_(state.value<std::int64_t>(fmt::format("measured_steps_of_{}", batch_.size()))) {}

ThroughputBalancer::Share ThroughputBalancer::deal(Context ctx, std::int64_t samples) const {
  std::vector<double> batches_per_s;
  for (const double seconds : batch_s_) batches_per_s.push_back(1 / seconds);
  const std::vector<long> counts = deal_by_throughput(samples, batch_, batches_per_s);
  return {counts[static_cast<std::size_t>(ctx.world_rank)],
          std::inner_product(counts.begin(), counts.end(), batch_.begin(), std::int64_t{0})};
}

void ThroughputBalancer::measured(Context ctx, double batch_s) {
  const auto measurements = gather(ctx, std::bit_cast<std::int64_t>(batch_s));
  ++steps_;
  const double weight = smoothing_ / (1 - std::pow(1 - smoothing_, static_cast<double>(steps_)));
  for (std::size_t rank = 0; rank < measurements.size(); ++rank)
    batch_s_[rank] += weight * (std::bit_cast<double>(measurements[rank]) - batch_s_[rank]);
}

/// The numbers that all ranks pass to their calls, by rank.
std::vector<std::int64_t> ThroughputBalancer::gather(Context ctx, std::int64_t own) {
  for (int rank = 0; rank < ctx.world_size; ++rank)
    if (rank != ctx.world_rank) ctx.control->post(rank, kThroughputTag, own);
  received_[static_cast<std::size_t>(ctx.world_rank)].push_back(own);
  while (std::ranges::any_of(received_, [](const auto& queue) { return queue.empty(); })) {
    const auto message = ctx.control->receive(kThroughputTag);
    if (!message) return std::vector<std::int64_t>(received_.size(), own);  // the world is ending
    received_[static_cast<std::size_t>(message->source)].push_back(message->a);
  }
  std::vector<std::int64_t> all;
  for (auto& queue : received_) {
    all.push_back(queue.front());
    queue.pop_front();
  }
  return all;
}

}  // namespace trigram
