#include "experiments/run/summary.h"

#include <algorithm>

#include "core/check.h"
#include "experiments/config/sha256.h"
#include "netmodels/cluster_network.h"
#include "netmodels/lower_bound.h"

namespace trigram {
namespace {

/// One hash over the weights of all ranks that train, so that worlds can be compared to the bit.
Json hash_of(std::span<const RankResult> ranks) {
  Sha256 hash;
  for (const RankResult& rank : ranks) {
    if (!rank.trains) continue;
    if (rank.weights_hash.empty()) return nullptr;
    hash.update(rank.weights_hash);
  }
  return hash.hex();
}

/// Of `batches`, which each rank had done at `end_s`: a rank that is done is not waited for.
double samples_per_s(std::span<const RankResult> ranks, std::span<const double> batches,
                     std::span<const double> end_s, std::optional<std::size_t> priced_batch) {
  double sum = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].trains)
      sum += static_cast<double>(priced_batch.value_or(ranks[i].batch)) * batches[i] / end_s[i];
  return sum;
}

}  // namespace

void Summary::add(const StepRecord& record) {
  last_ = record;
  count(record, 1);
}

void Summary::repeat(std::span<const StepRecord> cycle, long times) {
  for (const StepRecord& record : cycle) {
    const double taken_s = static_cast<double>(times) * record.step_s;
    last_.time_s += taken_s;
    for (double& end_s : last_.end_s) end_s += taken_s;  // a steady cycle takes all ranks as long
    count(record, times);
  }
}

void Summary::count(const StepRecord& record, long times) {
  steps_ += static_cast<double>(times);
  mean_ = mean_ + times * record.mean;
  sent_ = sent_ + times * record.sum;
  batches_.resize(record.batches.size());
  for (std::size_t rank = 0; rank < batches_.size(); ++rank)
    batches_[rank] += static_cast<double>(times * record.batches[rank]);
  staleness_.updates += times * record.staleness.updates;
  staleness_.sum += times * record.staleness.sum;
  staleness_.max = std::max(staleness_.max, record.staleness.max);
}

double messages_of(std::span<const RankResult> ranks) {
  double all = 0;
  for (const RankResult& rank : ranks)
    all += static_cast<double>(rank.total.messages_intra + rank.total.messages_inter);
  return all;
}

Json Summary::to_json(std::span<const RankResult> ranks, std::optional<double> messages_per_s,
                      std::optional<std::size_t> priced_batch) const {
  const bool updated = staleness_.updates > 0;
  Json j = {{"time_s", last_.time_s},
            {"step_s", last_.time_s / steps_},
            {"samples_per_s", finite(samples_per_s(ranks, batches_, last_.end_s, priced_batch))},
            {"compute_s", mean_.compute_s / steps_},
            {"communication_s", mean_.communication_s / steps_},
            {"exposed_s", mean_.exposed_s / steps_},
            {"bytes_intra", sent_.bytes_intra},
            {"bytes_inter", sent_.bytes_inter},
            {"messages_intra", sent_.messages_intra},
            {"messages_inter", sent_.messages_inter},
            {"loss", finite(last_.loss)},
            {"staleness_mean", updated ? Json(static_cast<double>(staleness_.sum) /
                                              static_cast<double>(staleness_.updates))
                                       : Json()},
            {"staleness_max", updated ? Json(staleness_.max) : Json()},
            {"weights_hash", hash_of(ranks)},
            {"lower_bound_s", nullptr},
            {"messages_simulated_per_wall_s", messages_per_s ? finite(*messages_per_s) : Json()}};
  for (const char* key : {"accuracy", "eval_loss", "worker_accuracy_mean", "worker_accuracy_min",
                          "consensus_distance"})
    j[key] = nullptr;
  if (last_.evaluation) add_evaluation(j, *last_.evaluation);
  return j;
}

double lower_bound(const Cluster& cluster, std::span<const Counters> arrived,
                   std::span<const RankResult> ranks) {
  std::vector<Traffic> traffic;
  for (const Counters& rank : arrived)
    traffic.push_back(
        {rank.bytes_intra, rank.bytes_inter, rank.messages_intra, rank.messages_inter});
  double first_s = ranks.front().began_s, last_s = 0;
  for (const RankResult& rank : ranks) {
    first_s = std::min(first_s, rank.began_s);
    if (rank.trains) last_s = std::max(last_s, rank.began_s);
  }
  const double end_s =
      lower_bound(*make_network(cluster), std::span<const Traffic>(traffic), first_s);
  return std::max(0.0, end_s - last_s);
}

void check_lower_bound(double time_s, double bound_s) {
  constexpr double kRounding = 1e-9;
  TRIGRAM_CHECK(time_s >= bound_s * (1 - kRounding),
                "the simulated steps took {} s, but what arrived in them takes at least {} s",
                time_s, bound_s);
}

}  // namespace trigram
