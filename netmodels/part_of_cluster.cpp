#include "netmodels/part_of_cluster.h"

#include "netmodels/cluster_network.h"

namespace trigram {
namespace {

/// The routes between the nodes of a part, on the network of the whole cluster.
class NetworkOfPart final : public Network {
 public:
  explicit NetworkOfPart(const Cluster& part)
      : Network(part.ranks(), static_cast<int>(part.nodes), part.loopback_bandwidth()),
        part_(part),
        whole_(make_network(*part.whole)) {
    graph_.vertices = whole_->vertices();
    graph_.links = whole_->links();
  }
  void route(int source, int destination, std::vector<LinkId>& links) const override {
    whole_->route(at(source), at(destination), links);
  }
  void background_route(int source, int destination, std::vector<LinkId>& links) const override {
    whole_->background_route(at(source), at(destination), links);
  }
  void injection(int rank, bool inside, std::vector<LinkId>& links) const override {
    whole_->injection(at(rank), inside, links);
  }
  Bisection bisection() const override { return whole_->bisection(); }
  bool mixes_levels() const override { return whole_->mixes_levels(); }
  double connection_cap(int source, int destination,
                        TrafficClass traffic = TrafficClass::collective,
                        Rate rate = Rate::sustained) const override {
    return whole_->connection_cap(at(source), at(destination), traffic, rate);
  }
  double message_cap(int source, int destination, TrafficClass traffic, double nbytes,
                     Rate rate) const override {
    return whole_->message_cap(at(source), at(destination), traffic, nbytes, rate);
  }
  std::span<const LinkChange> profile() const override { return whole_->profile(); }
  bool caps_connections(Rate rate) const override { return whole_->caps_connections(rate); }
  VertexId worker(int rank) const override { return whole_->worker(at(rank)); }

 private:
  int at(int rank) const { return part_.whole_rank(rank); }

  const Cluster part_;
  const std::unique_ptr<const Network> whole_;
};

}  // namespace

Cluster part_of(const std::shared_ptr<const Cluster>& whole, const std::vector<int>& nodes) {
  Cluster part = *whole;
  part.whole = whole;
  part.whole_nodes = nodes;
  part.nodes = static_cast<std::int64_t>(nodes.size());
  part.slow_workers.clear();
  for (int rank = 0; rank < part.ranks(); ++rank)
    for (const SlowWorker& slow : whole->slow_workers)
      if (slow.rank == part.whole_rank(rank)) part.slow_workers.push_back({rank, slow.factor});
  return part;
}

std::unique_ptr<const Network> network_of_part(const Cluster& part) {
  return std::make_unique<NetworkOfPart>(part);
}

}  // namespace trigram
