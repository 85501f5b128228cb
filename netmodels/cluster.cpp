#include "netmodels/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/config/option_types.h"
#include "core/random/philox.h"
#include "netmodels/background_load.h"
#include "netmodels/topologies/registry.h"

namespace trigram {
namespace {

constexpr std::int64_t kMaxRanks = 1 << 20;

FieldTable<LinkSpec> link_fields() {
  return FieldTable<LinkSpec>{}
      .required("bandwidth", &LinkSpec::bandwidth_Bps, quantity(Dimension::bandwidth, true),
                "bandwidth of each direction, such as \"25Gbps\"")
      .required("latency", &LinkSpec::latency_s, quantity(Dimension::duration),
                "end-to-end latency, such as \"50us\"")
      .field("shaping", &LinkSpec::shaping,
             written_where(nested(shaping_fields()), [](const Shaping& s) { return s.exists(); }),
             "token bucket at each direction of each NIC, whose bandwidth is that of bursts")
      .field("profile", &LinkSpec::profile,
             written_where(list_of(nested(link_change_fields())),
                           [](const auto& all) { return !all.empty(); }),
             "how links between nodes change with time")
      .field("background", &LinkSpec::background,
             written_where(nested(background_fields()),
                           [](const Background& b) { return b.load > 0; }),
             "traffic of others between nodes");
}

/// A bandwidth that is not dumped if it has no value of its own.
OptionType<double> bandwidth_if_given() {
  return written_where(quantity(Dimension::bandwidth, true), [](double Bps) { return Bps > 0; });
}

FieldTable<IntraSpec> intra_fields() {
  return FieldTable<IntraSpec>{}
      .required("bandwidth", &IntraSpec::bandwidth_Bps, quantity(Dimension::bandwidth, true),
                "bandwidth of each direction of each worker's port, such as \"150GB/s\"")
      .required("latency", &IntraSpec::latency_s, quantity(Dimension::duration),
                "end-to-end latency, such as \"5us\"")
      .field(
          "kind", &IntraSpec::kind,
          one_of<IntraKind>({{"nvlink", IntraKind::nvlink}, {"pcie", IntraKind::pcie}}),
          "\"nvlink\": a crossbar that is never narrow; \"pcie\": a host bridge that all messages "
          "inside the node share")
      .field(
          "bridge_bandwidth", &IntraSpec::bridge_Bps, bandwidth_if_given(),
          "bandwidth of the host bridge, all workers and directions together; that of a port when "
          "it is not given")
      .only_where([](const IntraSpec& s) { return s.kind == IntraKind::pcie; },
                  "applies only to \"kind\": \"pcie\"")
      .field(
          "gpudirect", &IntraSpec::gpudirect,
          written_where(boolean(), [](bool direct) { return !direct; }),
          "whether NICs reach the workers' memory by themselves (GPUDirect RDMA); if not, messages "
          "between nodes pass the worker's port and the host bridge of both nodes, too")
      .only_where([](const IntraSpec& s) { return s.kind == IntraKind::pcie; },
                  "applies only to \"kind\": \"pcie\"");
}

FieldTable<Accelerator> accelerator_fields() {
  return FieldTable<Accelerator>{}
      .field("name", &Accelerator::name,
             written_where(text(), [](const std::string& name) { return !name.empty(); }),
             "name of the accelerator; without one, and without rates, it is taken to be a V100")
      .field(
          "flops", &Accelerator::flops_per_s,
          written_where(quantity(Dimension::flop_rate, true), [](double rate) { return rate > 0; }),
          "rate of arithmetic, such as \"15.7TFLOP/s\"; that of a V100 when it is not given")
      .field("memory_bandwidth", &Accelerator::memory_Bps, bandwidth_if_given(),
             "bandwidth of its memory, such as \"900GB/s\"; that of a V100 when it is not given")
      .field("launch_overhead", &Accelerator::launch_overhead_s, quantity(Dimension::duration),
             "time that every operation takes besides its work")
      .field("synchronize_overhead", &Accelerator::synchronize_overhead_s,
             written_where(quantity(Dimension::duration), [](double s) { return s >= 0; }),
             "time that the host takes to go on when it has waited for an operation; that of a "
             "launch when it is not given")
      .field("codec_bandwidth", &Accelerator::codec_Bps, bandwidth_if_given(),
             "memory traffic at which tensors are encoded and decoded; by default as "
             "memory_bandwidth and flops say")
      .field("reduction_bandwidth", &Accelerator::reduction_Bps, bandwidth_if_given(),
             "memory traffic at which vectors are summed, scaled and compared; by default as "
             "memory_bandwidth and flops say")
      .field("copy_bandwidth", &Accelerator::copy_Bps, bandwidth_if_given(),
             "memory traffic at which tensors are copied; by default as memory_bandwidth says")
      .field("host_bandwidth", &Accelerator::host_Bps, bandwidth_if_given(),
             "tensors that algorithms exchange through the host pass it at this rate: copies to it "
             "and back, sums; by default as memory_bandwidth says")
      .field("overlap_slowdown", &Accelerator::overlap_slowdown, number(1, 1e6),
             "computation takes this many times as long while a message of its worker is under "
             "way");
}

FieldTable<SlowWorker> slow_worker_fields() {
  return FieldTable<SlowWorker>{}
      .required("rank", &SlowWorker::rank, integer(0), "rank of the worker")
      .required("factor", &SlowWorker::factor, number(1, 1e6),
                "its computation takes this many times as long");
}

FieldTable<Stragglers> straggler_fields() {
  const auto some = [](const Stragglers& s) { return s.count > 0; };
  const char* const why_not = "has no effect here; expected a \"count\" above 0 beside it";
  return FieldTable<Stragglers>{}
      .field("count", &Stragglers::count, integer(0), "workers that are held up in every step")
      .field("delay", &Stragglers::delay_s, quantity(Dimension::duration),
             "delay of each straggler before the step")
      .only_where(some, why_not)
      .field("seed", &Stragglers::seed, integer(0), "seed of the draw of workers")
      .only_where(some, why_not)
      .field("independent", &Stragglers::independent, boolean(),
             "every worker makes `count` draws of its own of one among all workers, and is held up "
             "where it draws itself: sometimes nobody is, sometimes more than `count` are")
      .only_where(some, why_not);
}

FieldTable<Skew> skew_fields() {
  return FieldTable<Skew>{}
      .field("smallest", &Skew::smallest_s, quantity(Dimension::duration),
             "delay of the worker that is held up least")
      .required("largest", &Skew::largest_s, quantity(Dimension::duration),
                "delay of the worker that is held up most")
      .field("rotates", &Skew::rotates, boolean(),
             "whether every worker has the next one's delay in the next step");
}

double jittered(double bandwidth, const Cluster& cluster, int index, bool nic) {
  if (cluster.bandwidth_jitter == 0) return bandwidth;
  Philox random(static_cast<std::uint64_t>(cluster.jitter_seed), index, nic ? 0 : 1,
                Purpose::network_jitter);
  return bandwidth * (1 + cluster.bandwidth_jitter * (2.0 * random.uniform() - 1));
}

}  // namespace

double Accelerator::rate_Bps(Cost::Kind kind) const {
  switch (kind) {
    case Cost::Kind::codec: return codec_Bps;
    case Cost::Kind::reduction: return reduction_Bps;
    case Cost::Kind::copy: return copy_Bps;
    case Cost::Kind::host: return host_Bps;
    case Cost::Kind::synchronization:
    case Cost::Kind::other: break;
  }
  return 0;
}

double Accelerator::seconds(const Cost& cost) const {
  if (cost.is_noop()) return 0;
  if (cost.kind == Cost::Kind::synchronization && synchronize_overhead_s >= 0)
    return synchronize_overhead_s;
  if (const double own_Bps = rate_Bps(cost.kind); own_Bps > 0)
    return cost.launches * launch_overhead_s + cost.bytes / own_Bps;
  return cost.launches * launch_overhead_s +
         std::max(cost.bytes / traffic_Bps(), cost.flops / arithmetic_per_s());
}

double Cluster::nic_bandwidth(int index) const {
  return jittered(inter.bandwidth_Bps, *this, index, true);
}

double Cluster::port_bandwidth(int rank) const {
  return jittered(intra.bandwidth_Bps, *this, rank, false);
}

FieldTable<Cluster> cluster_fields() {
  return FieldTable<Cluster>{}
      .field("nodes", &Cluster::nodes, integer(1, kMaxRanks), "number of nodes")
      .field("workers_per_node", &Cluster::workers_per_node, integer(1, kMaxRanks),
             "workers (ranks, accelerators) in each node")
      .field("intra", &Cluster::intra, nested(intra_fields()),
             "fabric inside a node: the full-duplex port of each worker")
      .field("inter", &Cluster::inter, nested(link_fields()),
             "network between nodes: the full-duplex NIC")
      .field("nics", &Cluster::nics,
             one_of<Nics>({{"shared", Nics::shared}, {"per_worker", Nics::per_worker}}),
             "whether the workers of a node share one NIC, or have one each")
      .field(
          "topology", &Cluster::topology, topology_kind(),
          "how nodes are joined beyond their NICs, by default by one switch that is never narrow")
      .field("transport", &Cluster::transport, nested(transport_fields()),
             "what protocols and software take of the network between nodes")
      .field("accelerator", &Cluster::accelerator, nested(accelerator_fields()),
             "rates that price computation (roofline model)")
      .field("worker_variation", &Cluster::worker_variation, number(0, 2),
             "variation of the workers' compute times, constant over steps: standard deviation of "
             "their logarithm")
      .field("slow_workers", &Cluster::slow_workers, list_of(nested(slow_worker_fields())),
             "workers that compute more slowly than the others")
      .field("stragglers", &Cluster::stragglers, nested(straggler_fields()),
             "workers, drawn anew for every step, that are held up before it")
      .field("skew", &Cluster::skew, nested(skew_fields()),
             "delays before every step that grow evenly from one worker to the next")
      .field("run_times", &Cluster::run_times, nested(run_times_fields()),
             "how the time of a step's computation varies among workers and steps")
      .field("bandwidth_jitter", &Cluster::bandwidth_jitter, number(0, 0.99),
             "each NIC and port is faster or slower by up to this fraction, drawn evenly")
      .field("jitter_seed", &Cluster::jitter_seed, integer(0),
             "seed of the draw for bandwidth_jitter");
}

Cluster parse_cluster(const Json& j, const std::string& pointer) {
  static const FieldTable<Cluster> fields = cluster_fields();  // built once: it takes milliseconds
  const Cluster cluster = fields.parse(j, pointer);
  if (cluster.nodes * cluster.workers_per_node > kMaxRanks)
    throw ConfigError(child(pointer, "workers_per_node"),
                      fmt::format("expected at most {} workers in all, not {} x {}", kMaxRanks,
                                  cluster.nodes, cluster.workers_per_node));
  topology_of(cluster.topology)
      .check(cluster.topology.options, cluster.attached_nodes(), child(pointer, "topology"));
  if (const Transport& t = cluster.transport;
      t.variation > 0 && !std::isfinite(t.connection_cap_Bps) && !std::isfinite(t.node_cap_Bps))
    throw ConfigError(child(child(pointer, "transport"), "variation"),
                      "expected connection_cap or node_cap beside it, which it varies");
  const std::string inter = child(pointer, "inter");
  check_profile(cluster.inter.profile, child(inter, "profile"));
  if (cluster.inter.shaping.exists() && !cluster.inter.profile.empty())
    throw ConfigError(child(inter, "profile"),
                      "expected links that change with time, or shaping, not both");
  check_background(cluster, child(inter, "background"));
  if (cluster.stragglers.count > cluster.ranks())
    throw ConfigError(child(child(pointer, "stragglers"), "count"),
                      fmt::format("expected at most {}, the number of workers, not {}",
                                  cluster.ranks(), cluster.stragglers.count));
  if (cluster.stragglers.count > 0 && cluster.stragglers.delay_s == 0)
    throw ConfigError(child(child(pointer, "stragglers"), "delay"),
                      "expected a delay above 0 for the stragglers");
  if (cluster.skew.largest_s < cluster.skew.smallest_s)
    throw ConfigError(child(child(pointer, "skew"), "largest"),
                      "expected no smaller a delay than the smallest one");
  if (j.contains("run_times")) parse_run_times(j.at("run_times"), child(pointer, "run_times"));
  std::vector<bool> seen(static_cast<std::size_t>(cluster.ranks()));
  for (std::size_t i = 0; i < cluster.slow_workers.size(); ++i) {
    const std::int64_t rank = cluster.slow_workers[i].rank;
    const std::string at = child(child(child(pointer, "slow_workers"), std::to_string(i)), "rank");
    if (rank >= cluster.ranks())
      throw ConfigError(at, fmt::format("expected a rank below {}, the number of workers, not {}",
                                        cluster.ranks(), rank));
    if (seen[static_cast<std::size_t>(rank)])
      throw ConfigError(at, fmt::format("rank {} is listed twice", rank));
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return cluster;
}

}  // namespace trigram
