#include "algorithms/execution/compute_threshold.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "algorithms/execution/control_tag.h"

namespace trigram {
namespace {

void post_number(Context ctx, int dest, int tag, double number) {
  ctx.control->post(dest, tag, std::bit_cast<std::int64_t>(number));
}

/// A micro-batch that a worker begins when it has finished another one at `from`; it ends at `to`.
/// The worker computes it if the threshold is not below `from`.
struct Continuation {
  double from;
  std::size_t step;
  double to;
};

/// Rank 0 gathers the numbers of all ranks. Messages of one source arrive in order.
std::vector<ComputeTimes> gather(Context ctx, const ComputeTimes& own) {
  std::vector<ComputeTimes> by_rank(static_cast<std::size_t>(ctx.size()));
  by_rank[0] = own;
  const std::size_t count = own.end_s.size() + own.exchange_s.size();  // numbers of a rank
  for (std::size_t missing = count * (by_rank.size() - 1); missing > 0; --missing) {
    const auto report = ctx.control->receive(kTimesTag);
    if (!report) return {};
    ComputeTimes& times = by_rank[static_cast<std::size_t>(report->source)];
    const bool is_end = times.end_s.size() < own.end_s.size();
    (is_end ? times.end_s : times.exchange_s).push_back(std::bit_cast<double>(report->a));
  }
  return by_rank;
}

}  // namespace

double best_threshold(const std::vector<ComputeTimes>& workers, int micro_batches) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (workers.empty()) return kNever;
  const std::size_t steps = workers[0].exchange_s.size(),
                    M = static_cast<std::size_t>(micro_batches);
  // For each step: `full_end`, the end of the last micro-batch if none is dropped; `exchange`, the
  // duration of the exchange; and, for the present threshold, `end`, the end of the last
  // micro-batch, and `count`, the number of micro-batches. At first `end` and `count` include only
  // the first micro-batch of each worker.
  std::vector<double> full_end(steps, 0), exchange(steps, kNever), end(steps, 0),
      count(steps, static_cast<double>(workers.size()));
  std::vector<Continuation> continuations;
  for (const ComputeTimes& worker : workers)
    for (std::size_t i = 0; i < steps; ++i) {
      const double* ends = &worker.end_s[i * M];
      full_end[i] = std::max(full_end[i], ends[M - 1]);
      end[i] = std::max(end[i], ends[0]);
      exchange[i] = std::min(exchange[i], worker.exchange_s[i]);
      for (std::size_t m = 0; m + 1 < M; ++m) continuations.push_back({ends[m], i, ends[m + 1]});
    }
  std::ranges::sort(continuations, {}, &Continuation::from);
  double best = kNever, best_gain = 0;
  for (std::size_t k = 0; k <= continuations.size(); ++k) {
    // With this threshold, the continuations before k are computed.
    const double from = k == 0 ? 0 : continuations[k - 1].from,
                 to = k == continuations.size() ? kNever : continuations[k].from;
    if (to > from) {
      double gain = 0;
      for (std::size_t i = 0; i < steps; ++i)
        gain += count[i] * (full_end[i] + exchange[i]) / (end[i] + exchange[i]);
      if (gain > best_gain) {
        best_gain = gain;
        best = (from + to) / 2;
      }
    }
    if (k == continuations.size()) break;
    const Continuation& next = continuations[k];
    ++count[next.step];
    end[next.step] = std::max(end[next.step], next.to);
  }
  return best;
}

double agree_on_threshold(Context ctx, const ComputeTimes& own, int micro_batches) {
  if (ctx.rank() != 0) {
    for (const double seconds : own.end_s) post_number(ctx, 0, kTimesTag, seconds);
    for (const double seconds : own.exchange_s) post_number(ctx, 0, kTimesTag, seconds);
    const auto answer = ctx.control->receive(kThresholdTag);
    return answer ? std::bit_cast<double>(answer->a) : 0;
  }
  const double best = best_threshold(gather(ctx, own), micro_batches);
  for (int rank = 1; rank < ctx.size(); ++rank) post_number(ctx, rank, kThresholdTag, best);
  return best;
}

}  // namespace trigram
