#include "runtime/sim/sim_runtime.h"

#include "core/check.h"
#include "runtime/sim/world.h"

namespace trigram {
namespace {

class SimRuntime final : public Runtime {
 public:
  SimRuntime(const SimOptions& options, const Cluster& cluster)
      : options_(options), cluster_(cluster) {}

  void launch(const Layout& layout, const Task& rank_main) override {
    TRIGRAM_CHECK(layout.nodes() == cluster_.layout().nodes(),
                  "a layout of {} ranks is launched on another cluster, of {}", layout.ranks(),
                  cluster_.ranks());
    sim::World(options_, cluster_, layout).run(rank_main);
  }

 private:
  SimOptions options_;
  Cluster cluster_;
};

}  // namespace

bool sim_available() { return true; }

std::string sim_unavailable_reason() { return {}; }

std::unique_ptr<Runtime> make_sim_runtime(const SimOptions& options, const Cluster& cluster) {
  return std::make_unique<SimRuntime>(options, cluster);
}

}  // namespace trigram
