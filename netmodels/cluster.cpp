#include "netmodels/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/config/option_type.h"
#include "core/random/philox.h"
#include "netmodels/background_load.h"
#include "netmodels/partitions.h"
#include "netmodels/prices.h"
#include "netmodels/topologies/topology.h"

namespace trigram {
namespace {

constexpr std::int64_t kMaxRanks = 1 << 20;

/// A price that is dumped only if it was given.
OptionType<double> price() {
  return dumped_if(number(0, 1e9), [](double usd) { return usd > 0; });
}

/// A power in watts that is dumped only if it was given.
OptionType<double> power() {
  return dumped_if(number(0, 1e6), [](double watts) { return watts >= 0; });
}

FieldTable<LinkSpec> link_fields() {
  return FieldTable<LinkSpec>{}
      .required("bandwidth", &LinkSpec::bandwidth_Bps, quantity(Dimension::bandwidth, true),
                "bandwidth of each direction, such as \"25Gbps\"")
      .required("latency", &LinkSpec::latency_s, quantity(Dimension::duration),
                "end-to-end latency, such as \"50us\"")
      .field("shaping", &LinkSpec::shaping,
             dumped_if(nested(shaping_fields()), [](const Shaping& s) { return s.enabled(); }),
             "token bucket in each direction of each NIC; `bandwidth` is then the rate of bursts")
      .field("profile", &LinkSpec::profile,
             dumped_if(list_of(nested(link_change_fields())),
                       [](const auto& all) { return !all.empty(); }),
             "how links between nodes change with time")
      .field("background", &LinkSpec::background,
             dumped_if(nested(background_fields()), [](const Background& b) { return b.load > 0; }),
             "background traffic of other jobs between nodes")
      .field(
          "egress_price_per_GB", &LinkSpec::egress_price_per_GB, price(),
          "US dollars for 1e9 bytes that leave a node or, with regions (\"kind\": \"wan\"), that "
          "leave a region");
}

/// A rate that is dumped only if it was given.
OptionType<double> rate_if_given(Dimension dimension = Dimension::bandwidth) {
  return dumped_if(quantity(dimension, true), [](double rate) { return rate > 0; });
}

FieldTable<IntraSpec> intra_fields() {
  const auto pcie = [](const IntraSpec& s) { return s.kind == IntraKind::pcie; };
  const char* const only_pcie = "applies only to \"kind\": \"pcie\"; remove it";
  return FieldTable<IntraSpec>{}
      .required("bandwidth", &IntraSpec::bandwidth_Bps, quantity(Dimension::bandwidth, true),
                "bandwidth of each direction of each worker's port, such as \"150GB/s\"")
      .required("latency", &IntraSpec::latency_s, quantity(Dimension::duration),
                "end-to-end latency, such as \"5us\"")
      .field("kind", &IntraSpec::kind,
             one_of<IntraKind>({{"nvlink", IntraKind::nvlink}, {"pcie", IntraKind::pcie}}),
             "\"nvlink\": a crossbar that is never a bottleneck; \"pcie\": a host bridge that all "
             "messages inside the node share")
      .field("bridge_bandwidth", &IntraSpec::bridge_Bps, rate_if_given(),
             "total bandwidth of the host bridge over all workers and both directions; defaults to "
             "the bandwidth of a port")
      .only_where(pcie, only_pcie)
      .field("gpudirect", &IntraSpec::gpudirect,
             dumped_if(boolean(), [](bool direct) { return !direct; }),
             "whether NICs access the workers' memory directly (GPUDirect RDMA); if not, messages "
             "between nodes also pass the worker's port and the host bridge of both nodes")
      .only_where(pcie, only_pcie);
}

FieldTable<Accelerator> accelerator_fields() {
  return FieldTable<Accelerator>{}
      .field("name", &Accelerator::name,
             dumped_if(text(), [](const std::string& name) { return !name.empty(); }),
             "name of the accelerator; without a name and without rates, a V100 is assumed")
      .field("flops", &Accelerator::flops_per_s, rate_if_given(Dimension::flop_rate),
             "rate of arithmetic, such as \"15.7TFLOP/s\"; defaults to a V100's")
      .field("memory_bandwidth", &Accelerator::memory_Bps, rate_if_given(),
             "bandwidth of its memory, such as \"900GB/s\"; defaults to a V100's")
      .field("launch_overhead", &Accelerator::launch_overhead_s, quantity(Dimension::duration),
             "time that every operation takes in addition to its work")
      .field("synchronize_overhead", &Accelerator::synchronize_overhead_s,
             dumped_if(quantity(Dimension::duration), [](double s) { return s >= 0; }),
             "time that the host needs to continue after it has waited for an operation; defaults "
             "to launch_overhead")
      .field("codec_bandwidth", &Accelerator::codec_Bps, rate_if_given(),
             "rate of memory traffic at which tensors are encoded and decoded; by default, "
             "memory_bandwidth and flops apply")
      .field("reduction_bandwidth", &Accelerator::reduction_Bps, rate_if_given(),
             "rate of memory traffic at which vectors are summed, scaled and compared; by default, "
             "memory_bandwidth and flops apply")
      .field("copy_bandwidth", &Accelerator::copy_Bps, rate_if_given(),
             "rate of memory traffic at which tensors are copied; by default, memory_bandwidth "
             "applies")
      .field("host_bandwidth", &Accelerator::host_Bps, rate_if_given(),
             "rate at which tensors that are exchanged through the host pass it: copies to it and "
             "back, and sums; by default, memory_bandwidth applies")
      .field("overlap_slowdown", &Accelerator::overlap_slowdown, number(1, 1e6),
             "factor on computation time while a message of the worker is in flight")
      .field("idle_watts", &Accelerator::idle_watts, power(),
             "electrical power, in watts, while the accelerator does not compute")
      .field("busy_watts", &Accelerator::busy_watts, power(),
             "electrical power, in watts, while the accelerator computes");
}

FieldTable<SlowWorker> slow_worker_fields() {
  return FieldTable<SlowWorker>{}
      .required("rank", &SlowWorker::rank, integer(0), "rank of the worker")
      .required("factor", &SlowWorker::factor, number(1, 1e6), "factor on its computation time");
}

FieldTable<Stragglers> straggler_fields() {
  const auto has_stragglers = [](const Stragglers& s) { return s.count > 0; };
  const char* const why_not = "has no effect here; expected a \"count\" above 0 beside it";
  return FieldTable<Stragglers>{}
      .field("count", &Stragglers::count, integer(0),
             "number of workers that are delayed in every step")
      .field("delay", &Stragglers::delay_s, quantity(Dimension::duration),
             "delay of each straggler before the step")
      .only_where(has_stragglers, why_not)
      .field("seed", &Stragglers::seed, integer(0), "seed of the draws of workers")
      .only_where(has_stragglers, why_not)
      .field("independent", &Stragglers::independent, boolean(),
             "every worker draws one of all workers `count` times and is delayed if it draws "
             "itself: in some steps no worker is delayed, in others more than `count` are")
      .only_where(has_stragglers, why_not);
}

FieldTable<Skew> skew_fields() {
  return FieldTable<Skew>{}
      .field("smallest", &Skew::smallest_s, quantity(Dimension::duration),
             "smallest delay of a worker")
      .required("largest", &Skew::largest_s, quantity(Dimension::duration),
                "largest delay of a worker")
      .field("rotates", &Skew::rotates, boolean(),
             "whether every worker takes over the next worker's delay in the next step");
}

/// Throws ConfigError if a slow worker does not exist or is listed twice.
void check_slow_workers(const Cluster& cluster, const std::string& pointer) {
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < cluster.slow_workers.size(); ++i) {
    const std::int64_t rank = cluster.slow_workers[i].rank;
    const std::string at = child(child(pointer, std::to_string(i)), "rank");
    if (rank >= cluster.ranks())
      throw ConfigError(at, fmt::format("expected a rank below {}, the number of workers, not {}",
                                        cluster.ranks(), rank));
    if (!seen.insert(rank).second)
      throw ConfigError(at, fmt::format("rank {} is listed twice", rank));
  }
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

Layout Cluster::layout() const {
  const auto workers = static_cast<int>(workers_per_node);
  Fabric fabric{.nic_Bps = inter.bandwidth_Bps,
                .nics_per_node = nics == Nics::per_worker ? workers : 1,
                .worker_Bps = intra.bandwidth_Bps,
                .nvlink = intra.kind == IntraKind::nvlink};
  if (bandwidth_jitter > 0)
    for (int nic = 0; nic < static_cast<int>(nodes) * fabric.nics_per_node; ++nic)
      fabric.nics_Bps.push_back(nic_bandwidth(nic));
  return Layout(static_cast<int>(nodes), workers, fabric);
}

double Cluster::nic_bandwidth(int index) const {
  if (whole)
    return whole->nic_bandwidth(nics == Nics::per_worker ? whole_rank(index) : whole_node(index));
  return jittered(inter.bandwidth_Bps, *this, index, true);
}

double Cluster::port_bandwidth(int rank) const {
  if (whole) return whole->port_bandwidth(whole_rank(rank));
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
             "whether the workers of a node share one NIC or each have their own")
      .field("topology", &Cluster::topology, topology_kind(),
             "how the NICs of nodes are connected; by default, by one switch that is never a "
             "bottleneck")
      .field("transport", &Cluster::transport, nested(transport_fields()),
             "limits and overheads of protocols and software between nodes")
      .field("accelerator", &Cluster::accelerator, nested(accelerator_fields()),
             "rates that price computation (roofline model)")
      .field("worker_variation", &Cluster::worker_variation, number(0, 2),
             "variation of the workers' compute times, constant over steps: standard deviation of "
             "their logarithm")
      .field("slow_workers", &Cluster::slow_workers, list_of(nested(slow_worker_fields())),
             "workers that compute more slowly than the others")
      .field("stragglers", &Cluster::stragglers, nested(straggler_fields()),
             "workers, drawn for every step, that are delayed before it")
      .field("skew", &Cluster::skew, nested(skew_fields()),
             "delays before every step that grow evenly from one worker to the next")
      .field("run_times", &Cluster::run_times, nested(run_times_fields()),
             "how the time of a step's computation varies among workers and steps")
      .field("failures", &Cluster::failures,
             dumped_if(failures_kind(), [](const Failures& f) { return !f.none(); }),
             "workers and nodes that fail: a list of events, or an object with rates")
      .field("price_per_node_hour", &Cluster::price_per_node_hour, price(),
             "US dollars for one node and hour")
      .field("bandwidth_jitter", &Cluster::bandwidth_jitter, number(0, 0.99),
             "each NIC and port is faster or slower by up to this fraction, drawn uniformly")
      .field("jitter_seed", &Cluster::jitter_seed, integer(0),
             "seed of the draws for bandwidth_jitter");
}

Cluster parse_cluster(const Json& j, const std::string& pointer) {
  // Built once, because it takes milliseconds.
  static const FieldTable<Cluster> fields = cluster_fields();
  const Cluster cluster = fields.parse(j, pointer);
  if (cluster.nodes * cluster.workers_per_node > kMaxRanks)
    throw ConfigError(child(pointer, "workers_per_node"),
                      fmt::format("expected at most {} workers in all, not {} x {}", kMaxRanks,
                                  cluster.nodes, cluster.workers_per_node));
  topology_of(cluster.topology)
      .check(cluster.topology.options, cluster.attached_nodes(), child(pointer, "topology"));
  if (const Transport& t = cluster.transport;
      t.variation > 0 && !std::isfinite(t.connection_cap_Bps) && !std::isfinite(t.node_cap_Bps))
    throw ConfigError(
        child(child(pointer, "transport"), "variation"),
        "has no effect here; expected connection_cap or node_cap, which it varies, beside it");
  const std::string inter = child(pointer, "inter");
  check_profile(cluster.inter.profile, child(inter, "profile"));
  if (cluster.inter.shaping.enabled() && !cluster.inter.profile.empty())
    throw ConfigError(child(inter, "profile"),
                      "expected a profile of links that change with time, or shaping, not both");
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
                      "expected a delay of at least `smallest`");
  if (j.contains("run_times")) parse_run_times(j.at("run_times"), child(pointer, "run_times"));
  check_slow_workers(cluster, child(pointer, "slow_workers"));
  check_prices(cluster, pointer);
  const std::string events = j.contains("failures") && j.at("failures").is_array()
                                 ? child(pointer, "failures")
                                 : child(child(pointer, "failures"), "events");
  check_failures(cluster.failures, cluster.nodes, cluster.workers_per_node, events);
  check_partitions(cluster, events);
  return cluster;
}

}  // namespace trigram
