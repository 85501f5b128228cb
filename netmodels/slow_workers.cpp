#include "netmodels/slow_workers.h"

#include <vector>

namespace trigram {
namespace {

class SlowWorkers final : public MachineModel {
 public:
  explicit SlowWorkers(const Cluster& cluster)
      : factors_(static_cast<std::size_t>(cluster.ranks()), 1.0) {
    for (const SlowWorker& slow : cluster.slow_workers)
      factors_.at(static_cast<std::size_t>(slow.rank)) = slow.factor;
  }
  double compute_factor(int rank, long) const override {
    return factors_.at(static_cast<std::size_t>(rank));
  }
  double delay(int, long) const override { return 0; }

 private:
  std::vector<double> factors_;
};

}  // namespace

std::unique_ptr<MachineModel> make_machine_model(const Cluster& cluster) {
  return std::make_unique<SlowWorkers>(cluster);
}

}  // namespace trigram
