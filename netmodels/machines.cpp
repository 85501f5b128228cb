#include "netmodels/machines.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/random/philox.h"
#include "netmodels/balanced_run_times.h"
#include "netmodels/variation.h"

namespace trigram {
namespace {

/// True if `rank` is among the stragglers that are drawn for `step` (Floyd's sampling: Bentley and
/// Floyd, "A sample of brilliance", CACM 30(9), 1987, doi:10.1145/30401.315746).
bool is_drawn(int rank, const Stragglers& stragglers, std::size_t ranks, long step) {
  Philox random(static_cast<std::uint64_t>(stragglers.seed), 0, step, Purpose::machine_delay);
  std::vector<std::uint32_t> drawn;
  const auto P = static_cast<std::uint32_t>(ranks);
  for (auto last = P - static_cast<std::uint32_t>(stragglers.count); last < P; ++last) {
    const std::uint32_t candidate = random.below(last + 1);
    const bool repeated = std::ranges::find(drawn, candidate) != drawn.end();
    drawn.push_back(repeated ? last : candidate);
  }
  return std::ranges::find(drawn, static_cast<std::uint32_t>(rank)) != drawn.end();
}

/// True if `rank` draws itself in one of its own `count` draws.
bool draws_itself(int rank, const Stragglers& stragglers, std::size_t ranks, long step) {
  Philox random(static_cast<std::uint64_t>(stragglers.seed), rank, step, Purpose::machine_delay);
  bool drawn = false;
  for (std::int64_t draw = 0; draw < stragglers.count; ++draw)
    drawn |= random.below(static_cast<std::uint32_t>(ranks)) == static_cast<std::uint32_t>(rank);
  return drawn;
}

class Machines final : public MachineModel {
 public:
  explicit Machines(const Cluster& cluster)
      : factors_(static_cast<std::size_t>(cluster.ranks()), 1.0),
        stragglers_(cluster.stragglers),
        skew_(cluster.skew),
        run_times_(cluster.run_times) {
    if (cluster.run_times.order == LoaderOptions::Order::balanced)
      balanced_.emplace(cluster.run_times, cluster.ranks());
    for (int rank = 0; rank < cluster.ranks(); ++rank)
      factors_[static_cast<std::size_t>(rank)] = worker_time_factor(cluster.worker_variation, rank);
    for (const SlowWorker& slow : cluster.slow_workers)
      factors_.at(static_cast<std::size_t>(slow.rank)) *= slow.factor;
  }
  double compute_factor(int rank, long step) const override {
    const double drawn = balanced_ ? balanced_->factor(rank, step) : run_times_.factor(rank, step);
    return factors_.at(static_cast<std::size_t>(rank)) * drawn;
  }
  double delay(int rank, long step) const override {
    return straggler_delay(rank, step) + skew_delay(rank, step);
  }

 private:
  double straggler_delay(int rank, long step) const {
    if (stragglers_.count == 0 || stragglers_.delay_s == 0) return 0;
    const auto is_straggler = stragglers_.independent ? draws_itself : is_drawn;
    return is_straggler(rank, stragglers_, factors_.size(), step) ? stragglers_.delay_s : 0;
  }
  double skew_delay(int rank, long step) const {
    const auto ranks = static_cast<long>(factors_.size());
    if (ranks == 1 || skew_.largest_s == 0) return skew_.smallest_s;
    const long position = skew_.rotates ? (rank + step) % ranks : rank;
    return skew_.smallest_s + (skew_.largest_s - skew_.smallest_s) * static_cast<double>(position) /
                                  static_cast<double>(ranks - 1);
  }

  std::vector<double> factors_;
  Stragglers stragglers_;
  Skew skew_;
  RunTimeDraws run_times_;
  std::optional<BalancedRunTimes> balanced_;
};

/// The machines of a part of a cluster: those of the whole cluster.
class MachinesOfPart final : public MachineModel {
 public:
  explicit MachinesOfPart(const Cluster& part) : part_(part), whole_(*part.whole) {}
  double compute_factor(int rank, long step) const override {
    return whole_.compute_factor(part_.whole_rank(rank), step);
  }
  double delay(int rank, long step) const override {
    return whole_.delay(part_.whole_rank(rank), step);
  }

 private:
  const Cluster part_;
  const Machines whole_;
};

}  // namespace

std::optional<long> machine_period(const Cluster& cluster) {
  if (cluster.whole) return machine_period(*cluster.whole);
  const bool delayed = cluster.stragglers.count > 0 && cluster.stragglers.delay_s > 0;
  if (delayed || cluster.run_times.kind != RunTimes::Shape::constant) return std::nullopt;
  const bool rotates = cluster.skew.rotates && cluster.skew.largest_s > 0;
  return rotates ? cluster.ranks() : 1;
}

std::unique_ptr<MachineModel> make_machine_model(const Cluster& cluster) {
  if (cluster.whole) return std::make_unique<MachinesOfPart>(cluster);
  return std::make_unique<Machines>(cluster);
}

}  // namespace trigram
