#include "algorithms/execution/compute_threshold.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace trigram {
namespace {

constexpr int kReport = 0, kAnswer = 1;  // tags

void post_number(Context ctx, int dest, int tag, double number) {
  ctx.control->post(dest, tag, std::bit_cast<std::int64_t>(number));
}

/// The numbers of all ranks, at rank 0; each comes from its source in order.
std::vector<ComputeTimes> gather(Context ctx, const ComputeTimes& own) {
  std::vector<ComputeTimes> all(static_cast<std::size_t>(ctx.size()));
  all[0] = own;
  const std::size_t each = own.done_s.size() + own.exchange_s.size();
  for (std::size_t left = each * (all.size() - 1); left > 0; --left) {
    const auto report = ctx.control->receive(kReport);
    if (!report) return {};
    ComputeTimes& times = all[static_cast<std::size_t>(report->source)];
    const bool done = times.done_s.size() < own.done_s.size();
    (done ? times.done_s : times.exchange_s).push_back(std::bit_cast<double>(report->a));
  }
  return all;
}

}  // namespace

double best_threshold(const std::vector<ComputeTimes>& workers, int micro_batches) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (workers.empty()) return kNever;
  const std::size_t steps = workers[0].exchange_s.size(),
                    M = static_cast<std::size_t>(micro_batches);
  std::vector<double> slowest(steps, 0), exchange(steps, kNever);
  std::vector<std::pair<double, std::size_t>> done;  // when, in which step
  for (const ComputeTimes& worker : workers)
    for (std::size_t i = 0; i < steps; ++i) {
      exchange[i] = std::min(exchange[i], worker.exchange_s[i]);
      for (std::size_t m = 0; m < M; ++m) done.emplace_back(worker.done_s[i * M + m], i);
      slowest[i] = std::max(slowest[i], worker.done_s[(i + 1) * M - 1]);
    }
  std::sort(done.begin(), done.end());
  std::vector<double> count(steps, 0);  // of micro-batches that are done by the threshold
  double best = kNever, most = 0;
  for (std::size_t k = 0; k < done.size(); ++k) {
    const double threshold = done[k].first;
    ++count[done[k].second];
    if (k + 1 < done.size() && done[k + 1].first == threshold) continue;
    double gain = 0;
    for (std::size_t i = 0; i < steps; ++i)
      gain +=
          count[i] * (slowest[i] + exchange[i]) / (std::min(threshold, slowest[i]) + exchange[i]);
    if (gain <= most) continue;
    most = gain;
    best = threshold;
  }
  return best;
}

double agree_on_threshold(Context ctx, const ComputeTimes& own, int micro_batches) {
  if (ctx.rank() != 0) {
    for (const double seconds : own.done_s) post_number(ctx, 0, kReport, seconds);
    for (const double seconds : own.exchange_s) post_number(ctx, 0, kReport, seconds);
    const auto answer = ctx.control->receive(kAnswer);
    return answer ? std::bit_cast<double>(answer->a) : 0;
  }
  const double best = best_threshold(gather(ctx, own), micro_batches);
  for (int rank = 1; rank < ctx.size(); ++rank) post_number(ctx, rank, kAnswer, best);
  return best;
}

}  // namespace trigram
