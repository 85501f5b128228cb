#include "experiments/bench/measure.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "algorithms/collectives/point_to_point.h"

namespace trigram {
namespace {

// Tags of control messages. They are negative, because algorithms use tags from 0 on. Start and
// result need different tags, because a rank that has sent its result may start the next
// measurement before other ranks have sent theirs.
constexpr int kStart = -2, kResult = -3;

std::int64_t bits_of(double value) { return std::bit_cast<std::int64_t>(value); }

/// Sets, on rank 0, `seconds` to the maximum and `wrong` to the sum over all ranks. Rank 0 returns
/// when all ranks have called this function.
void combine_ranks(const Context& ctx, int tag, double& seconds, std::int64_t& wrong) {
  if (ctx.world_rank > 0) return ctx.control->post(0, tag, bits_of(seconds), wrong);
  for (int others = ctx.world_size - 1; others > 0; --others) {
    const Message message = ctx.control->receive(tag).value();
    seconds = std::max(seconds, std::bit_cast<double>(message.a));
    wrong += message.b;
  }
}

/// Waits until a common start time, which is 1 s ahead in simulated time and 1 ms in real time. A
/// rank that is late returns immediately.
void start_together(const Context& ctx, bool simulated) {
  double start_s = ctx.stream->now();
  std::int64_t none = 0;
  combine_ranks(ctx, kStart, start_s, none);
  if (ctx.world_rank == 0) {
    start_s += simulated ? 1 : 1e-3;
    for (int rank = 1; rank < ctx.world_size; ++rank)
      ctx.control->post(rank, kStart, bits_of(start_s), 0);
  } else {
    start_s = std::bit_cast<double>(ctx.control->receive(kStart).value().a);
  }
  const double early_s = start_s - ctx.stream->now();
  if (early_s > 0) ctx.stream->sleep_for(early_s);
}

/// Waits until the preceding rank has sent `nbytes` bytes, then sends them to the next rank.
void wait_in_chain(const Context& ctx, std::size_t nbytes) {
  if (nbytes == 0) return;
  const Tensor token = ctx.device->empty(nbytes / sizeof(float));
  if (ctx.rank() > 0) receive(ctx, token, ctx.rank() - 1);
  if (ctx.rank() + 1 < ctx.size()) send(ctx, token, ctx.rank() + 1);
}

/// The elements in `bytes`, rounded down to a multiple of the number of ranks.
std::size_t whole_elements(std::size_t bytes, std::size_t ranks) {
  return bytes / sizeof(float) / ranks * ranks;
}

Measurement measure_one(const Context& ctx, const BenchEntry& entry, std::size_t count,
                        const SizeRange& sizes, bool simulated) {
  const auto exercise = entry.make(ctx, count);
  std::int64_t wrong = 0;
  exercise->fill();
  if (sizes.check) {
    exercise->run();
    wrong = static_cast<std::int64_t>(exercise->wrong());
  }
  start_together(ctx, simulated);
  wait_in_chain(ctx, sizes.chain_bytes);
  double seconds = seconds_of(ctx, sizes, [&] { exercise->run(); });
  combine_ranks(ctx, kResult, seconds, wrong);
  Measurement m{entry.operation, entry.algorithm, entry.redop, count * sizeof(float), count};
  m.seconds = seconds / entry.runs;
  m.bus_factor = exercise->bus_factor();
  if (sizes.check) m.wrong = static_cast<std::size_t>(wrong);
  return m;
}

}  // namespace

std::vector<std::size_t> element_counts(const SizeRange& sizes, std::size_t ranks) {
  std::vector<std::size_t> all;
  for (std::size_t bytes = sizes.min_bytes; bytes <= sizes.max_bytes;
       bytes *= static_cast<std::size_t>(sizes.factor)) {
    const std::size_t count = std::max(whole_elements(bytes, ranks), ranks);
    if (all.empty() || all.back() != count) all.push_back(count);
  }
  return all;
}

double seconds_of(const Context& ctx, const SizeRange& sizes, const std::function<void()>& run) {
  for (int i = 0; i < sizes.warm_up; ++i) run();
  std::vector<double> seconds;
  for (int i = 0; i < sizes.iterations; ++i) {
    const double begin_s = ctx.stream->now();
    double taken_s = 0;
    int runs = 0;
    do {
      run();
      ctx.stream->synchronize();
      ++runs;
      taken_s = ctx.stream->now() - begin_s;
    } while (taken_s < sizes.batch_s);
    seconds.push_back(taken_s / runs);
  }
  return quantile(std::move(seconds), sizes.quantile);
}

void measure(const Context& ctx, const std::vector<BenchEntry>& entries, const SizeRange& sizes,
             bool simulated, const std::function<void(const Measurement&)>& report) {
  const auto ranks = static_cast<std::size_t>(ctx.size());
  for (const BenchEntry& entry : entries) {
    if (ranks < entry.least_ranks) continue;
    for (const std::size_t count : element_counts(sizes, ranks)) {
      const Measurement m = measure_one(ctx, entry, count, sizes, simulated);
      if (ctx.world_rank == 0) report(m);
    }
  }
}

double quantile(std::vector<double> values, double share) {
  const double place = share * static_cast<double>(values.size());
  const auto index =
      std::min(static_cast<std::ptrdiff_t>(place), static_cast<std::ptrdiff_t>(values.size()) - 1);
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

}  // namespace trigram
