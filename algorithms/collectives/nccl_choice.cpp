#include "algorithms/collectives/nccl_choice.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>

namespace trigram {
namespace {

/// A value for each protocol, in the order of NcclProtocol.
struct ByProtocol {
  double ll, ll128, simple;
  double operator[](NcclProtocol protocol) const {
    switch (protocol) {
      case NcclProtocol::ll: return ll;
      case NcclProtocol::ll128: return ll128;
      case NcclProtocol::simple: return simple;
    }
    return 0;
  }
};

struct ByAlgorithm {
  ByProtocol tree, ring;
  double at(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    return (algorithm == NcclAlgorithm::tree ? tree : ring)[protocol];
  }
};

// Latencies in microseconds: of a call, and of a hop over each kind of link (baseLat, hwLat).
constexpr ByAlgorithm kBase = {{6.8, 14, 8.4}, {6.6, 14, 8.4}};
constexpr ByAlgorithm kNvlink = {{0.6, 1.25, 4}, {0.6, 1.9, 3.4}};
constexpr ByAlgorithm kPcie = {{1, 1.9, 4}, {1, 2.5, 5.7}};
constexpr ByAlgorithm kNetwork = {{5, 8.5, 14}, {2.7, 4, 14}};

/// The least time in microseconds that a hop of a ring over several nodes takes to hand a message
/// to the network, on Intel's processors; Simple takes three times as long (getNetOverhead).
constexpr double kNetworkOverhead = 1;

/// Factors on the latency of Simple for a ring over several nodes, once a rank has at least
/// kPlateauBytes of a channel; for compute capabilities below 8.0, and from 8.0 on.
constexpr double kPlateauBefore80 = 1.9, kPlateau = 1.4;
constexpr std::size_t kPlateauBytes = 64;
/// NCCL duplicates a single ring.
constexpr std::size_t kChannels = 2;

/// The share of the channels' bandwidth that is left for data.
constexpr ByProtocol kRingShare = {0.5, 0.92, 1};
constexpr double kTreeShare = 0.92;
constexpr double kTreeLl = 1 / 3.8, kTreeLl128 = 120.0 / 128, kTreeLl128OneNode = 7.0 / 9;

/// The share of a tree's bandwidth that vectors reach, by their length: 64 B, 128 B, ... 256 MiB
/// (treeCorrectionFactor). Longer vectors reach all of it.
constexpr ByProtocol kTreeCorrection[] = {
    {1, 1, .9},    // 64 B
    {1, 1, .9},    // 128 B
    {1, 1, .9},    // 256 B
    {1, 1, .9},    // 512 B
    {.9, 1, .9},   // 1 KiB
    {.8, .9, .9},  // 2 KiB
    {.7, .8, .9},  // 4 KiB
    {.7, .8, .8},  // 8 KiB
    {.7, .8, .7},  // 16 KiB
    {.7, .7, .6},  // 32 KiB
    {.6, .6, .6},  // 64 KiB
    {.5, .6, .5},  // 128 KiB
    {.4, .6, .5},  // 256 KiB
    {.4, .6, .5},  // 512 KiB
    {.5, .6, .5},  // 1 MiB
    {.6, .6, .6},  // 2 MiB
    {.7, .8, .7},  // 4 MiB
    {.8, .9, .8},  // 8 MiB
    {.9, .9, .7},  // 16 MiB
    {1, .9, .7},   // 32 MiB
    {1, .9, .8},   // 64 MiB
    {1, 1, .9},    // 128 MiB
    {1, 1, .9},    // 256 MiB
};

int floor_log2(std::size_t v) { return v == 0 ? 0 : static_cast<int>(std::bit_width(v)) - 1; }

double tree_correction(NcclProtocol protocol, std::size_t nbytes) {
  const auto step = static_cast<std::size_t>(floor_log2(nbytes / 64));
  return step < std::size(kTreeCorrection) ? kTreeCorrection[step][protocol] : 1;
}

/// The predicted bandwidth: bytes of the vector per second.
double bandwidth_Bps(const NcclView& view, NcclAlgorithm algorithm, NcclProtocol protocol,
                     std::size_t nbytes) {
  double Bps = view.nodes == 1 ? view.worker_Bps : view.node_Bps;
  if (view.workers > 1) Bps = std::min(Bps, view.worker_Bps);
  if (algorithm == NcclAlgorithm::ring)
    return Bps * kRingShare[protocol] * view.ranks() / (2 * (view.ranks() - 1));
  Bps *= kTreeShare;
  if (protocol == NcclProtocol::ll) Bps *= kTreeLl;
  if (protocol == NcclProtocol::ll128) Bps *= view.nodes == 1 ? kTreeLl128OneNode : kTreeLl128;
  return Bps / 2 * tree_correction(protocol, nbytes);
}

double tree_latency_us(const NcclView& view, NcclProtocol protocol) {
  const double inside = (view.nvlink ? kNvlink : kPcie).tree[protocol];
  return kBase.tree[protocol] +
         2 * ((view.workers - 1) * inside +
              floor_log2(static_cast<std::size_t>(view.nodes)) * kNetwork.tree[protocol]);
}

double ring_latency_us(const NcclView& view, NcclProtocol protocol, std::size_t nbytes) {
  const bool simple = protocol == NcclProtocol::simple;
  double inside = (view.nvlink ? kNvlink : kPcie).ring[protocol];
  if (view.nodes > 1) inside = std::max(inside, simple ? 3 * kNetworkOverhead : kNetworkOverhead);
  const double between = (view.workers == 1 ? kNetwork.tree : kNetwork.ring)[protocol];
  const int hops = 2 * (view.ranks() - 1), hops_between = 2 * (view.nodes - 1);
  const double latency_us =
      kBase.ring[protocol] + (hops - hops_between) * inside + hops_between * between;
  const bool plateau =
      simple && view.nodes > 1 &&
      nbytes / (kChannels * static_cast<std::size_t>(view.ranks())) >= kPlateauBytes;
  if (!plateau) return latency_us;
  return latency_us * (view.compute_capability < 80 ? kPlateauBefore80 : kPlateau);
}

double least_s(const NcclView& view, NcclAlgorithm algorithm, std::size_t nbytes) {
  double least_s = std::numeric_limits<double>::infinity();
  for (const auto protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple})
    if (protocol != NcclProtocol::ll128 || view.nvlink)
      least_s = std::min(least_s, nccl_time_s(view, algorithm, protocol, nbytes));
  return least_s;
}

}  // namespace

NcclView nccl_view(const Context& ctx, const NcclOptions& options) {
  const Fabric& fabric = ctx.layout->fabric();
  const double nic_Bps = options.nic_Bps.value_or(fabric.nic_Bps);
  NcclView view{.nodes = ctx.size(),
                .node_Bps = nic_Bps,
                .worker_Bps = fabric.worker_Bps,
                .nvlink = fabric.nvlink,
                .compute_capability = options.compute_capability};
  if (ctx.size() != ctx.layout->ranks()) return view;
  view.nodes = static_cast<int>(ctx.layout->nodes().size());
  view.workers = ctx.size() / view.nodes;
  view.node_Bps = nic_Bps * fabric.nics_per_node;
  return view;
}

double nccl_time_s(const NcclView& view, NcclAlgorithm algorithm, NcclProtocol protocol,
                   std::size_t nbytes) {
  const double latency_us = algorithm == NcclAlgorithm::tree
                                ? tree_latency_us(view, protocol)
                                : ring_latency_us(view, protocol, nbytes);
  return 1e-6 * latency_us +
         static_cast<double>(nbytes) / bandwidth_Bps(view, algorithm, protocol, nbytes);
}

NcclAlgorithm nccl_choice(const NcclView& view, std::size_t nbytes) {
  if (view.ranks() == 1) return NcclAlgorithm::ring;
  return least_s(view, NcclAlgorithm::tree, nbytes) < least_s(view, NcclAlgorithm::ring, nbytes)
             ? NcclAlgorithm::tree
             : NcclAlgorithm::ring;
}

}  // namespace trigram
