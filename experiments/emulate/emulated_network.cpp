#include "experiments/emulate/emulated_network.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/config/config_error.h"
#include "experiments/emulate/namespaces.h"
#include "experiments/emulate/tool.h"
#include "netmodels/fragments.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

constexpr int kMostEmulatedNodes = 1000;                   // a bridge has 1,023 ports
constexpr double kSlowest_bps = 1e3, kFastest_bps = 1e12;  // the range of tc's token buckets
constexpr double kMostQueued = 1e9;  // in bytes, because the kernel's counters have 31 bits
constexpr int kMtu = 1500;
// Bytes of an Ethernet frame and of its payload. A token bucket counts frames; the headers of IP,
// of TCP with timestamps, and of Ethernet are not payload.
constexpr double kFrame = kMtu + 14, kPayload = kMtu - 20 - 32;

/// The burst of a full token bucket in bytes. It has at least two frames, and the bytes of 1 ms, so
/// that a late kernel timer loses no throughput. It is smaller if TCP is described and there is a
/// latency: links are then idle between messages, so every message would find a full bucket.
double bucket_bytes(const EmulatedNetwork& network, double Bps) {
  const bool idles = network.tcp.has_window() && network.latency_s > 0;
  return std::max(2 * kFrame, (idles ? 2.5e-4 : 1e-3) * Bps);
}

std::string link_end(int node) { return fmt::format("p{}", node); }
std::string node_namespace(int node) {
  return namespace_name(getpid(), KernelNetwork::address(node));
}

void check_transport(const Transport& transport) {
  const std::string pointer = "/cluster/transport";
  const auto refuse_if = [&](bool given, const char* option) {
    if (given)
      throw ConfigError(
          child(pointer, option),
          "the kernel does not emulate it; only goodput, node_cap and tcp are supported");
  };
  refuse_if(std::isfinite(transport.connection_cap_Bps), "connection_cap");
  refuse_if(transport.message_overhead_s > 0, "message_overhead");
  refuse_if(transport.stage_overhead_s > 0, "stage_overhead");
  refuse_if(transport.streams > 1, "streams");
  refuse_if(transport.channels > 1, "channels");
  refuse_if(std::isfinite(transport.stream_cap_Bps), "stream_cap");
  refuse_if(transport.variation > 0, "variation");
  refuse_if(transport.loss > 0, "loss");
  if (transport.tcp.has_window() && transport.tcp.slow_start &&
      transport.tcp.initial_window_bytes != Tcp{}.initial_window_bytes)
    throw ConfigError(pointer + "/tcp/initial_window",
                      "the kernel does not emulate it; expected Linux's default, ten segments");
}

void check_cluster(const Cluster& cluster) {
  if (cluster.topology.kind != "flat")
    throw ConfigError("/cluster/topology",
                      fmt::format("expected \"flat\": the kernel emulates nodes at one switch, not "
                                  "a topology of kind \"{}\"",
                                  cluster.topology.kind));
  if (cluster.nics == Nics::per_worker && cluster.workers_per_node > 1)
    throw ConfigError("/cluster/nics",
                      "expected \"shared\": a node of the emulated network has one NIC; describe "
                      "workers with NICs of their own as nodes");
  if (cluster.nodes > kMostEmulatedNodes)
    throw ConfigError(
        "/cluster/nodes",
        fmt::format("expected at most {} nodes, the number of ports of a bridge, not {}",
                    kMostEmulatedNodes, cluster.nodes));
  check_transport(cluster.transport);
}

/// The bytes that a connection may have in flight, for which queues and buffers have room.
double window_bytes(const EmulatedNetwork& network, double Bps) {
  return std::max(512e3, 4 * Bps * network.latency_s);
}

/// Throws ConfigError for rates and queue sizes that exceed the range of the kernel's counters.
void check_rates(const EmulatedNetwork& network) {
  for (int node = 0; node < network.nodes; ++node) {
    const double Bps = network.nic_Bps[static_cast<std::size_t>(node)];
    if (8 * Bps < kSlowest_bps || 8 * Bps > kFastest_bps)
      throw ConfigError("/cluster/inter/bandwidth",
                        fmt::format("expected NICs of 1 kbit/s to 1 Tbit/s, which the kernel can "
                                    "emulate; the NIC of node {} would move {:.4g} bit/s",
                                    node, 8 * Bps));
    const double queued = network.nodes * window_bytes(network, Bps);
    if (network.latency_s > 0 && queued > kMostQueued)
      throw ConfigError("/cluster/inter/latency",
                        fmt::format("expected a shorter latency: at {:.4g} bit/s the kernel would "
                                    "hold {:.3g} B for {} nodes, and {:.0g} B is the limit",
                                    8 * Bps, queued, network.nodes, kMostQueued));
  }
}

/// True if packets that leave a node (or enter it, if `leaving` is false) are delayed by the
/// latency there. If TCP is described, packets are delayed where they enter a node, after the token
/// bucket of the sending NIC, like on a cable. TCP then sees its own queue at that bucket, which a
/// delaying queue before the bucket would hide. If TCP is not described, packets are delayed where
/// they leave a node, because buffers are tuned to the link.
bool is_delayed(const EmulatedNetwork& network, bool leaving) {
  return leaving != network.tcp.has_window();
}

/// The tc commands for the queue of one direction of a NIC.
std::string queue(const EmulatedNetwork& network, const std::string& device, double payload_Bps,
                  bool leaving) {
  const double Bps = payload_Bps * kFrame / kPayload;
  std::string text = fmt::format(
      "qdisc add dev {} root handle 1: tbf rate {:.0f}bit burst {:.0f} limit {:.0f}\n", device,
      8 * Bps, bucket_bytes(network, Bps), network.nodes * window_bytes(network, payload_Bps));
  if (!is_delayed(network, leaving) || (network.latency_s == 0 && network.loss == 0)) return text;
  return text + fmt::format(
                    "qdisc add dev {} parent 1:1 handle 10: netem limit 1000000 delay {:.0f}us "
                    "loss {:.6f}%\n",
                    device, 1e6 * network.latency_s, 100 * network.loss);
}

/// The send buffer of a connection in bytes, including TCP's own structures. It holds some
/// milliseconds of data and, if the kernel emulates latency, also enough to fill the link.
double send_buffer_bytes(const EmulatedNetwork& network, double Bps) {
  return std::max(32768.0, Bps * (4e-3 + 6 * network.latency_s));
}

/// A shell line that sets a kernel parameter of IPv4.
std::string setting(const std::string& key, const std::string& value) {
  return fmt::format("echo '{}' > /proc/sys/net/ipv4/{} || exit 1\n", value, key);
}

/// The least, initial and largest size of receive buffers, as a kernel parameter. If the kernel
/// emulates latency, the window fills the link from the beginning. The kernel's own structures take
/// about half of a buffer.
std::string receive_buffers(const EmulatedNetwork& network, double Bps) {
  const double most = window_bytes(network, Bps);
  if (network.latency_s == 0) return fmt::format("4096 131072 {:.0f}", most);
  return fmt::format("4096 {0:.0f} {0:.0f}", 2 * most);
}

/// Route options for the initial window of a connection, which has the packets of a round trip, as
/// on a connection that has always been in use. TCP's default of ten packets would need several
/// round trips to grow to that size.
std::string first_window(const EmulatedNetwork& network, double Bps) {
  if (network.tcp.slow_start) return "";
  const double packets = std::ceil(2.2 * network.latency_s * Bps / kPayload);
  return fmt::format("initcwnd {0:.0f} initrwnd {0:.0f}", std::max(10.0, packets));
}

/// Kernel parameters for TCP as the cluster describes it; all other parameters keep Linux's
/// defaults. The window is half of the receive buffer (net.ipv4.tcp_adv_win_scale = 1, until Linux
/// 6.6).
std::string described_tcp(const EmulatedNetwork& network) {
  const double buffer = 2 * network.tcp.window_bytes;
  return setting("tcp_slow_start_after_idle", network.tcp.restart_after_idle ? "1" : "0") +
         setting("tcp_rmem",
                 fmt::format("4096 {:.0f} {:.0f}", std::min(131072.0, buffer), buffer)) +
         setting("tcp_wmem", fmt::format("4096 16384 {:.0f}", std::max(4194304.0, buffer)));
}

/// Kernel parameters with which connections behave as if they had always been in use: there is no
/// slow start after computation. Each connection keeps little data in its buffer, so that
/// connections share the NIC evenly.
std::string tuned_tcp(const EmulatedNetwork& network, double Bps) {
  return setting("tcp_slow_start_after_idle", "0") + setting("tcp_congestion_control", "reno") +
         setting("tcp_rmem", receive_buffers(network, Bps)) +
         setting("tcp_wmem", fmt::format("4096 65536 {:.0f}", send_buffer_bytes(network, Bps)));
}

/// Sets the kernel parameters of a node's TCP. A connection keeps little data in the queue of its
/// NIC, so that short messages, such as MPI's own replies, do not wait behind long messages.
void configure_tcp(const std::string& name, const EmulatedNetwork& network, double Bps) {
  run_tool(
      {"ip", "netns", "exec", name, "sh"},
      setting("tcp_no_metrics_save", "1") +
          setting("tcp_limit_output_bytes", fmt::format("{:.0f}", bucket_bytes(network, Bps))) +
          (network.tcp.has_window() ? described_tcp(network) : tuned_tcp(network, Bps)));
}

void add_node(const EmulatedNetwork& network, int node) {
  const std::string name = node_namespace(node), centre = KernelNetwork::switch_namespace();
  const double Bps = network.nic_Bps[static_cast<std::size_t>(node)];
  add_namespace(name);
  run_tool({"ip", "-n", name, "-batch", "-"},
           fmt::format("link add eth0 mtu {0} type veth peer name {1} mtu {0} netns {2}\n"
                       "address add {3}/16 dev eth0\n"
                       "link set eth0 gso_max_segs 2\n"
                       "link set eth0 up\n"
                       "route change {4} dev eth0 proto kernel scope link src {3} {5}\n",
                       kMtu, link_end(node), centre, KernelNetwork::address(node),
                       KernelNetwork::subnet(), first_window(network, Bps)));
  run_tool({"ip", "-n", centre, "link", "set", link_end(node), "master", "switch", "up"});
  run_tool({"tc", "-n", name, "-batch", "-"}, queue(network, "eth0", Bps, true));
  run_tool({"tc", "-n", centre, "-batch", "-"}, queue(network, link_end(node), Bps, false));
  configure_tcp(name, network, Bps);
}

}  // namespace

EmulatedNetwork emulated_network(const Experiment& e) {
  const Cluster& cluster = e.cluster;
  check_cluster(cluster);
  const MpiOptions options = mpi_fields().parse(component_options(e.runtime), "/runtime");
  const bool by_kernel = options.emulated == Emulated::bandwidth_and_latency;
  if (!by_kernel && options.loss > 0)
    throw ConfigError("/runtime/loss", "this kernel has no netem, which drops packets; expected 0");
  if (!by_kernel && cluster.inter.latency_s > 0 &&
      e.algorithm_entry().traits(e.algorithm).allreduce == AllreduceAlgorithm::native)
    throw ConfigError("/algorithm/allreduce",
                      "this kernel has no netem, and MPI's own collectives cannot be delayed "
                      "otherwise; expected another allreduce, or a latency of 0");
  if (!by_kernel && cluster.inter.latency_s > 0 && cluster.transport.tcp.has_window())
    throw ConfigError("/cluster/transport/tcp",
                      "this kernel has no netem, and TCP does not see the latency that ranks add; "
                      "remove it, or set a latency of 0");
  EmulatedNetwork network{.nodes = static_cast<int>(cluster.nodes),
                          .workers_per_node = static_cast<int>(cluster.workers_per_node),
                          .nic_Bps = nic_bandwidths(cluster),
                          .latency_s = by_kernel ? cluster.inter.latency_s : 0,
                          .loss = options.loss,
                          .tcp = cluster.transport.tcp};
  check_rates(network);
  return network;
}

bool kernel_has_netem() {
  const std::string name = namespace_name(getpid(), "probe");
  add_namespace(name);
  bool has = true;
  try {
    run_tool({"tc", "-n", name, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"});
  } catch (const std::runtime_error&) {
    has = false;
  }
  run_tool({"ip", "netns", "delete", name});
  return has;
}

KernelNetwork::KernelNetwork(const EmulatedNetwork& network) {
  add_namespace(switch_namespace());
  run_tool({"ip", "-n", switch_namespace(), "-batch", "-"},
           fmt::format("link add switch type bridge forward_delay 0\n"
                       "address add 10.77.255.254/16 dev switch\n"
                       "link set switch up\n"));
  for (int node = 0; node < network.nodes; ++node) add_node(network, node);
}

KernelNetwork::~KernelNetwork() {
  try {
    remove_namespaces(getpid());
  } catch (const std::exception&) {  // the watcher tries again and reports errors
  }
}

std::string KernelNetwork::switch_namespace() { return namespace_name(getpid(), "switch"); }

std::string KernelNetwork::subnet() { return "10.77.0.0/16"; }

std::string KernelNetwork::address(int node) {
  constexpr int kPerRow = 250;
  return fmt::format("10.77.{}.{}", node / kPerRow, node % kPerRow + 1);
}

}  // namespace trigram
