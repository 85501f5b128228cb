#include "runtime/sim/sim_runtime.h"

#include <optional>

#include "core/check.h"
#include "runtime/sim/world.h"

namespace trigram {
namespace {

class SimRuntime final : public SimulatedRuntime {
 public:
  SimRuntime(const SimOptions& options, const Cluster& cluster)
      : options_(options), cluster_(cluster) {}

  void launch(const Layout& layout, const Task& rank_main) override {
    TRIGRAM_CHECK(layout.nodes() == cluster_.layout().nodes(),
                  "a layout of {} ranks is launched on another cluster, of {}", layout.ranks(),
                  cluster_.ranks());
    auto world = std::make_unique<sim::World>(options_, cluster_, layout);
    world_ = world.get();
    if (end_s_) world->end_at(*end_s_);
    if (auto failure = world->run(rank_main)) {
      static_cast<void>(world.release());  // suspended actors refer to it
      std::rethrow_exception(failure);
    }
    notes_ = world->notes();
    world_ = nullptr;
  }
  void end_at(double date_s) override {
    if (world_) world_->end_at(date_s);
    else end_s_ = date_s;
  }
  double heartbeat_arrival_s(int source, int destination, double nbytes,
                             bool behind_bulk) override {
    TRIGRAM_CHECK(world_, "a heartbeat is sent outside a launch");
    return world_->heartbeat_arrival_s(source, destination, nbytes, behind_bulk);
  }
  std::vector<double> link_credits() const override {
    return world_ ? world_->credits() : std::vector<double>();
  }
  Json notes() const override { return notes_; }

 private:
  SimOptions options_;
  Cluster cluster_;
  sim::World* world_ = nullptr;  // set during a launch
  std::optional<double> end_s_;
  Json notes_ = Json::object();
};

}  // namespace

bool sim_available() { return true; }

std::string sim_unavailable_reason() { return {}; }

std::unique_ptr<SimulatedRuntime> make_sim_runtime(const SimOptions& options,
                                                   const Cluster& cluster) {
  return std::make_unique<SimRuntime>(options, cluster);
}

}  // namespace trigram
