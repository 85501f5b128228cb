#include "experiments/run/tails.h"

#include <cmath>

namespace trigram {
namespace {

constexpr std::pair<const char*, double> kShares[] = {
    {"step_p50_s", 0.5}, {"step_p95_s", 0.95}, {"step_p99_s", 0.99}};

/// The least value that so many of the sorted samples do not exceed; NaN if there are none.
double nearest_rank(std::span<const std::pair<double, long>> sorted, double share) {
  long all = 0, seen = 0;
  for (const auto& [seconds, times] : sorted) all += times;
  for (const auto& [seconds, times] : sorted) {
    seen += times;
    if (static_cast<double>(seen) >= share * static_cast<double>(all)) return seconds;
  }
  return std::nan("");
}

}  // namespace

void Tails::add(const StepRecord& record) {
  if (record.step == first_step_) {  // the warm-up is over
    steps_.clear();
    for (auto& own : own_s_) own.clear();
    lost_s_ = covered_s_ = 0;
    work_s_.clear();
    begun_steps_ = 0;
    interval_s_ = 0;
  }
  waits_ = record.completed.empty();
  add_steps(record, 1);
  if (waits_) add_work(record, 1);
}

void Tails::repeat(std::span<const StepRecord> cycle, long times) {
  work_s_.clear();
  begun_steps_ = 0;
  interval_s_ = 0;
  for (const StepRecord& record : cycle) {
    steps_.emplace_back(record.step_s, times);
    if (waits_) add_work(record, times);
  }
}

void Tails::add_steps(const StepRecord& record, long times) {
  if (waits_) steps_.emplace_back(record.step_s, times);
  ended_s_.resize(record.end_s.size());
  own_s_.resize(waits_ ? 0 : record.end_s.size());
  for (std::size_t rank = 0; rank < ended_s_.size(); ++rank) {
    const double own_s = record.end_s[rank] - std::exchange(ended_s_[rank], record.end_s[rank]);
    const bool there = rank < record.work_s.size() && !std::isnan(record.work_s[rank]);
    if (!waits_ && there && own_s > 0) own_s_[rank].push_back(own_s);
  }
}

void Tails::add_work(const StepRecord& record, long times) {
  work_s_.resize(record.work_s.size());
  for (std::size_t rank = 0; rank < work_s_.size(); ++rank) work_s_[rank] += record.work_s[rank];
  interval_s_ += record.step_s;
  if (++begun_steps_ < interval_steps_) return;
  double sum_s = 0, most_s = 0, count = 0;
  for (const double work_s : work_s_) {
    if (std::isnan(work_s)) continue;
    sum_s += work_s;
    most_s = std::max(most_s, work_s);
    ++count;
  }
  if (count > 0) {
    lost_s_ += static_cast<double>(times) * (most_s - sum_s / count);
    covered_s_ += static_cast<double>(times) * interval_s_;
  }
  work_s_.clear();
  begun_steps_ = 0;
  interval_s_ = 0;
}

std::vector<std::pair<double, long>> Tails::samples() const {
  std::vector<std::pair<double, long>> all = steps_;
  for (const std::vector<double>& own : own_s_) {
    const std::size_t counted = std::max<std::size_t>(own.size(), 2) - 1;  // without the last step
    for (std::size_t i = 0; i < std::min(counted, own.size()); ++i) all.emplace_back(own[i], 1);
  }
  std::ranges::sort(all);
  return all;
}

void Tails::add_to(Json& summary) const {
  const auto sorted = samples();
  for (const auto& [key, share] : kShares) summary[key] = finite(nearest_rank(sorted, share));
  summary["straggler_share"] = waits_ && covered_s_ > 0 ? Json(lost_s_ / covered_s_) : Json();
}

}  // namespace trigram
