#include "experiments/run/job_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "netmodels/cluster_network.h"

namespace trigram {
namespace {

constexpr double kMessage_s = 0.1;  // target duration of a long message
// The limits of the length of a long message, in elements.
constexpr std::size_t kLeast = std::size_t{16} << 10, kMost = std::size_t{16} << 20;
constexpr int kShortMessages = 9, kLongMessages = 3;  // numbers of short and of long messages

/// Messages between rank 0 and the first rank of the next node. Each of the two ranks has its own
/// object and makes the same calls.
class MessagePair {
 public:
  MessagePair(const Context& ctx, int peer, std::size_t numel)
      : ctx_(ctx),
        peer_(peer),
        small_(ctx.device->empty(1, DType::f32, 1)),
        large_(ctx.device->empty(numel, DType::f32, numel)) {
    ctx.device->fill(small_, 0);
    ctx.device->fill(large_, 0);
  }
  /// Rank 0 sends `message`, and then the peer sends `answer`. Returns the seconds from the
  /// beginning of this call until its end, which on rank 0 are the round trip.
  double round_trip(const Tensor& message, const Tensor& answer) {
    const bool first = ctx_.world_rank == 0;
    const double began_s = ctx_.stream->now();
    transfer(first ? Transfer::send : Transfer::recv, message);
    transfer(first ? Transfer::recv : Transfer::send, answer);
    return ctx_.stream->now() - began_s;
  }
  const Tensor& small() const { return small_; }
  const Tensor& large() const { return large_; }

 private:
  void transfer(Transfer::Kind kind, const Tensor& x) {
    const Transfer message{kind, x, peer_};
    ctx_.comm->transfer({&message, 1});
    ctx_.stream->synchronize();
  }
  const Context& ctx_;
  const int peer_;
  const Tensor small_, large_;
};

double median_round_trip(MessagePair& pair, const Tensor& message, const Tensor& answer,
                         int times) {
  pair.round_trip(message, answer);  // not measured, because it opens TCP's window
  std::vector<double> taken_s;
  for (int i = 0; i < times; ++i) taken_s.push_back(pair.round_trip(message, answer));
  std::ranges::sort(taken_s);
  return taken_s[taken_s.size() / 2];
}

/// Exchanges a message between all ranks. MPI connects two ranks at their first message, and TCP
/// starts slowly; the first step of the training then has neither cost.
void connect(const Context& ctx) {
  std::vector<Transfer> batch;
  for (int peer = 0; peer < ctx.world_size; ++peer) {
    if (peer == ctx.world_rank) continue;
    for (const Transfer::Kind kind : {Transfer::recv, Transfer::send}) {
      const Tensor x = ctx.device->empty(kLeast, DType::f32, kLeast);
      ctx.device->fill(x, 0);
      batch.push_back({kind, x, peer});
    }
  }
  ctx.comm->transfer(batch);
}

void measure_with_peer(const Context& ctx, int peer, std::size_t numel,
                       std::vector<CheckedLink>& links) {
  MessagePair pair(ctx, peer, numel);
  const double small_s = median_round_trip(pair, pair.small(), pair.small(), kShortMessages);
  const double there_s =
      median_round_trip(pair, pair.large(), pair.small(), kLongMessages) - small_s;
  const double back_s =
      median_round_trip(pair, pair.small(), pair.large(), kLongMessages) - small_s;
  if (ctx.world_rank != 0) return;
  for (CheckedLink& link : links) link.achieved.latency_s = small_s / 2;
  const double nbytes = static_cast<double>(pair.large().nbytes());
  links[0].achieved.bandwidth_Bps = nbytes / there_s;
  links[1].achieved.bandwidth_Bps = nbytes / back_s;
}

CheckedLink configured(const Cluster& cluster, int source, int destination) {
  const auto network = make_network(cluster);
  const Layout layout = cluster.layout();
  return {.name = fmt::format("node {} to node {}", layout.node_of(source),
                              layout.node_of(destination)),
          .configured = {network->bandwidth(source, destination),
                         network->latency(source, destination)},
          .achieved = {}};
}

}  // namespace

std::vector<CheckedLink> check_job_links(Runtime& runtime, const Cluster& cluster) {
  if (cluster.nodes < 2) return {};
  const int peer = static_cast<int>(cluster.workers_per_node);
  std::vector<CheckedLink> links = {configured(cluster, 0, peer), configured(cluster, peer, 0)};
  const double wanted = kMessage_s * links[0].configured.bandwidth_Bps / sizeof(float);
  const auto numel = static_cast<std::size_t>(std::clamp(wanted, double(kLeast), double(kMost)));
  runtime.launch(cluster.layout(), [&](const Context& ctx) {
    connect(ctx);
    if (ctx.world_rank == 0 || ctx.world_rank == peer)
      measure_with_peer(ctx, ctx.world_rank == 0 ? peer : 0, numel, links);
  });
  return links;
}

}  // namespace trigram
