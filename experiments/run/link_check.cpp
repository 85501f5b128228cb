#include "experiments/run/link_check.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <tuple>

#include "experiments/text/text_table.h"
#include "netmodels/cluster_network.h"

namespace trigram {
namespace {

constexpr std::size_t kMostLinks = 6;
constexpr double kLinkTolerance = 0.05;
constexpr double kCheckedMessage_s = 0.2;  // duration of a message; much longer than the wake-up of
                                           // a thread, which takes tens of microseconds

struct CheckedPair {
  int source, destination;
  double overhead_s;  // the sender's software overhead per message, which is not part of the
                      // network's latency
  CheckedLink link;
};

/// Returns one pair of ranks for each combination of place (inside a node or between nodes),
/// bandwidth and latency.
std::vector<CheckedPair> pairs_to_check(const Cluster& cluster) {
  const auto network = make_network(cluster);
  const Layout layout = cluster.layout();
  std::set<std::tuple<bool, double, double>> seen;
  std::vector<CheckedPair> pairs;
  for (int source = 0; source < layout.ranks(); ++source)
    for (int destination = source + 1; destination < layout.ranks(); ++destination) {
      if (pairs.size() == kMostLinks) return pairs;
      const bool inside = layout.same_node(source, destination);
      const LinkSpec configured{network->bandwidth(source, destination),
                                network->latency(source, destination)};
      if (!seen.emplace(inside, configured.bandwidth_Bps, configured.latency_s).second) continue;
      const char* place = inside ? "inside a node" : "between nodes";
      pairs.push_back({source,
                       destination,
                       inside ? 0 : cluster.transport.overhead_s(1),
                       {fmt::format("{}, {} > {}", place, source, destination), configured, {}}});
    }
  return pairs;
}

/// The seconds from the time at which both ranks are ready until the message has arrived. Both
/// ranks call this function; the receiver gets the result, and the sender gets 0. A send may return
/// long before the message arrives, so the sender also sends its start time, after the message. The
/// clocks of all ranks have the same zero.
double message_s(const Context& ctx, const CheckedPair& pair, std::size_t nbytes) {
  const Tensor empty = Tensor::phantom(0, DType::u8, 0);
  const Tensor message = Tensor::phantom(nbytes, DType::u8, nbytes);
  const Tensor begin = ctx.device->empty(sizeof(double), DType::u8);
  const auto pass = [&](Transfer::Kind kind, const Tensor& x) {
    const int peer = ctx.world_rank == pair.source ? pair.destination : pair.source;
    ctx.comm->transfer(std::array{Transfer{kind, x, peer}});
  };
  std::array<double, 1> begin_s;
  if (ctx.world_rank == pair.source) {
    pass(Transfer::recv, empty);  // the receiver is ready
    begin_s = {ctx.stream->now()};
    pass(Transfer::send, message);
    ctx.device->upload(begin, std::as_bytes(std::span(begin_s)));
    pass(Transfer::send, begin);
    return 0;
  }
  pass(Transfer::send, empty);
  pass(Transfer::recv, message);
  const double end_s = ctx.stream->now();
  pass(Transfer::recv, begin);
  const auto bytes = ctx.device->download<std::byte>(begin);
  std::memcpy(begin_s.data(), bytes.data(), sizeof begin_s);
  return end_s - begin_s[0];
}

void measure_pair(const Context& ctx, CheckedPair& pair) {
  std::array<double, 5> empty_s;
  for (double& seconds : empty_s) seconds = message_s(ctx, pair, 0);
  std::nth_element(empty_s.begin(), empty_s.begin() + empty_s.size() / 2, empty_s.end());
  const double latency_s = empty_s[empty_s.size() / 2];  // includes the overhead
  const auto nbytes =
      static_cast<std::size_t>(kCheckedMessage_s * pair.link.configured.bandwidth_Bps);
  const double long_s = message_s(ctx, pair, nbytes);
  if (ctx.world_rank == pair.destination)
    pair.link.achieved = {static_cast<double>(nbytes) / (long_s - latency_s),
                          latency_s - pair.overhead_s};
}

/// The relative error; 0 if the configured value is 0.
double error(double achieved, double configured) {
  return configured > 0 ? achieved / configured - 1 : 0;
}

double error_of_bandwidth(const CheckedLink& link) {
  return error(link.achieved.bandwidth_Bps, link.configured.bandwidth_Bps);
}

double error_of_latency(const CheckedLink& link) {
  return error(link.achieved.latency_s, link.configured.latency_s);
}

std::string signed_percent(double part) { return fmt::format("{:+.1f} %", 100 * part); }

std::string Mbps(double Bps) { return fmt::format("{:.4g} Mbit/s", 8e-6 * Bps); }
std::string ms(double seconds) { return fmt::format("{:.4g} ms", 1e3 * seconds); }

}  // namespace

double CheckedLink::largest_error() const {
  const double bandwidth = error_of_bandwidth(*this), latency = error_of_latency(*this);
  return std::abs(bandwidth) > std::abs(latency) ? bandwidth : latency;
}

bool CheckedLink::deviates() const { return std::abs(largest_error()) > kLinkTolerance; }

std::vector<CheckedLink> check_links(const Experiment& e, const WorkloadFactory& workload) {
  std::vector<CheckedPair> pairs = pairs_to_check(e.cluster);
  e.world().make(e.runtime, e.cluster, workload)->launch(e.cluster.layout(), [&](Context ctx) {
    for (CheckedPair& pair : pairs)
      if (ctx.world_rank == pair.source || ctx.world_rank == pair.destination)
        measure_pair(ctx, pair);
  });
  std::vector<CheckedLink> links;
  for (const CheckedPair& pair : pairs) links.push_back(pair.link);
  return links;
}

Json to_json(const std::vector<CheckedLink>& links) {
  Json j = Json::array();
  for (const CheckedLink& link : links)
    j.push_back({{"link", link.name},
                 {"bandwidth_Bps", link.configured.bandwidth_Bps},
                 {"achieved_Bps", link.achieved.bandwidth_Bps},
                 {"latency_s", link.configured.latency_s},
                 {"achieved_latency_s", link.achieved.latency_s},
                 {"off", link.largest_error()},
                 {"warning", link.deviates()}});
  return j;
}

std::string link_table(const std::vector<CheckedLink>& links) {
  std::vector<std::vector<std::string>> lines = {{"link", "", "configured", "achieved", "off by"}};
  for (const CheckedLink& link : links) {
    lines.push_back({link.name, "bandwidth", Mbps(link.configured.bandwidth_Bps),
                     Mbps(link.achieved.bandwidth_Bps), signed_percent(error_of_bandwidth(link))});
    lines.push_back({"", "latency", ms(link.configured.latency_s), ms(link.achieved.latency_s),
                     link.configured.latency_s > 0 ? signed_percent(error_of_latency(link)) : "-"});
  }
  return aligned(lines, 2);
}

void warn_about(const std::vector<CheckedLink>& links, const std::string& run) {
  for (const CheckedLink& link : links)
    if (link.deviates())
      spdlog::warn("{}: the link {} is {:+.0f} % off what the cluster says", run, link.name,
                   100 * link.largest_error());
}

}  // namespace trigram
