#include "runtime/sim/sim_runtime.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "core/check.h"
#include "netmodels/cluster_network.h"
#include "runtime/sim/world.h"

namespace trigram {
namespace {

/// A simulation and the worlds of its jobs. The first world is that of the job that is launched.
struct Launch {
  std::shared_ptr<const Network> network;  // of the whole cluster
  sim::Simulation simulation;
  std::vector<std::unique_ptr<sim::World>> worlds;

  Launch(const SimOptions& options, const Cluster& whole)
      : network(make_network(whole)), simulation(options, whole, *network) {}
  sim::World& add(const SimOptions& options, const Cluster& cluster, const Layout& layout,
                  const std::string& job) {
    auto own = cluster.whole ? std::shared_ptr(make_network(cluster)) : network;
    return *worlds.emplace_back(
        std::make_unique<sim::World>(options, cluster, layout, std::move(own), simulation, job));
  }
  /// Runs until the first world or all worlds have ended. Returns the exception that ended them.
  std::exception_ptr run() {
    simulation.run([this] {
      for (const auto& world : worlds) world->deadlock();
    });
    std::exception_ptr first;
    for (const auto& world : worlds)
      if (auto failure = world->outcome(); !first) first = std::move(failure);
    return first;
  }
  /// True if actors remain, which refer to this object.
  bool has_actors() const {
    return std::ranges::any_of(worlds, [](const auto& world) { return world->has_live_streams(); });
  }
};

class SimRuntime final : public SimulatedRuntime {
 public:
  SimRuntime(const SimOptions& options, const Cluster& cluster)
      : options_(options), cluster_(cluster) {}

  void launch(const Layout& layout, const Task& rank_main) override {
    TRIGRAM_CHECK(layout.nodes() == cluster_.layout().nodes(),
                  "a layout of {} ranks is launched on another cluster, of {}", layout.ranks(),
                  cluster_.ranks());
    auto started = std::make_unique<Launch>(options_, cluster_.whole ? *cluster_.whole : cluster_);
    sim::Simulation& simulation = started->simulation;
    world_ = &started->add(options_, cluster_, layout, "");
    if (end_s_) world_->end_at(*end_s_);
    world_->start(
        rank_main, jobs_.empty() ? std::function<void()>() : [&] { simulation.stop(); });
    for (const OtherJob& job : jobs_)
      started->add(options_, job.cluster, job.layout, job.name).start(job.rank_main, {});
    const std::exception_ptr failure = started->run();
    notes_ = world_->notes();
    if (failure || started->has_actors()) static_cast<void>(started.release());
    if (failure) std::rethrow_exception(failure);
    world_ = nullptr;
  }
  void add_job(OtherJob job) override {
    TRIGRAM_CHECK(cluster_.whole && cluster_.whole == job.cluster.whole,
                  "job {} runs on another cluster", job.name);
    TRIGRAM_CHECK(options_.fidelity == SimOptions::Fidelity::message,
                  "jobs share a network whose collectives are simulated as flows");
    jobs_.push_back(std::move(job));
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
  std::vector<OtherJob> jobs_;
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
