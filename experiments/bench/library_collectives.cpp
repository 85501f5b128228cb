#include "experiments/bench/library_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"
#include "core/check.h"

namespace trigram {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// The payload of a control message such as "the receive is posted".
Tensor notice(Context ctx) { return ctx.device->empty(16); }

// Open MPI without `put` (btl_tcp_flags send). If a message is longer than the eager limit, its
// first part is sent at once. The receiver answers when it has posted the receive; then the rest
// follows (ompi/mca/pml/ob1/pml_ob1_sendreq.c, mca_pml_ob1_send_request_start_rndv).
constexpr std::size_t kEagerBytes = 65536;  // btl_tcp_eager_limit, headers included
constexpr std::size_t kHeaderBytes = 64;

std::size_t eager_numel(const Tensor& x) {
  return std::min(x.numel(), (kEagerBytes - kHeaderBytes) / sizeof(float));
}
Tensor eager_part(const Tensor& x) { return x.slice(0, eager_numel(x)); }
Tensor remaining_part(const Tensor& x) {
  return x.slice(eager_numel(x), x.numel() - eager_numel(x));
}

/// Starts all messages at once. They must have equal lengths.
void transfer_without_put(Context ctx, std::span<const Transfer> messages) {
  std::vector<Transfer> announced, answered, remaining;
  const Tensor sent_notice = notice(ctx), received_notice = notice(ctx);
  for (const auto& [kind, x, peer, traffic] : messages) {
    const bool sends = kind == Transfer::send;
    announced.push_back({kind, eager_part(x), peer, traffic});
    answered.push_back({sends ? Transfer::recv : Transfer::send,
                        sends ? received_notice : sent_notice, peer, traffic});
    remaining.push_back({kind, remaining_part(x), peer, traffic});
  }
  ctx.comm->transfer(announced);
  if (remaining_part(messages[0].tensor).numel() == 0) return;
  ctx.comm->transfer(answered);
  ctx.comm->transfer(remaining);
}

void sendrecv(Context ctx, const Tensor& out, int to, const Tensor& in, int from) {
  const Transfer both[] = {{Transfer::recv, in, from, TrafficClass::collective},
                           {Transfer::send, out, to, TrafficClass::collective}};
  ctx.comm->transfer(both);
}

/// The messages of coll_tuned_alltoall_algorithm 1. Copies this rank's own part first.
std::vector<Transfer> linear_all_to_all(Context ctx, const Tensor& x, const Tensor& y) {
  const int P = ctx.size(), rank = ctx.rank();
  const auto part = [&](const Tensor& t, int i) { return t.part(index(i), index(P)); };
  ctx.device->copy(part(y, rank), part(x, rank));
  std::vector<Transfer> messages;
  for (int i = 1; i < P; ++i) {
    const int to = (rank + i) % P, from = (rank - i + P) % P;
    messages.push_back({Transfer::recv, part(y, from), from, TrafficClass::all_to_all});
    messages.push_back({Transfer::send, part(x, to), to, TrafficClass::all_to_all});
  }
  return messages;
}

// gloo. A rank notifies the sender when it has posted a receive, and the sender then sends the
// data. The messages between two ranks follow one another on one socket
// (gloo/transport/tcp/pair.cc, NOTIFY_RECV_READY). The ring of gloo splits the chunk of each rank
// into segments, two of which are in flight at a time, and ranks send to the preceding rank
// (gloo/allreduce.cc).
constexpr std::size_t kMostSegmentBytes = 1 << 20;

}  // namespace

void open_mpi_ring_allreduce(Context ctx, const Tensor& x) {
  const int P = ctx.size(), left = (ctx.rank() + P - 1) % P, right = (ctx.rank() + 1) % P;
  if (P == 1) return;
  const auto part = [&](int i) { return x.part(index((i + 2 * P) % P), index(P)); };
  const Scratch scratch(ctx, longest_part(x, index(P)));
  for (int s = 0; s < P - 1; ++s) {
    const Tensor mine = part(ctx.rank() - s - 1), arrived = scratch.like(mine);
    sendrecv(ctx, part(ctx.rank() - s), right, arrived, left);
    accumulate(ctx, Reduce::sum, arrived, mine);
  }
  for (int s = 0; s < P - 1; ++s)
    sendrecv(ctx, part(ctx.rank() + 1 - s), right, part(ctx.rank() - s), left);
}

void open_mpi_recursive_doubling_allreduce(Context ctx, const Tensor& x) {
  const int P = ctx.size();
  TRIGRAM_CHECK((P & (P - 1)) == 0, "expected a power of two of ranks, not {}", P);
  const Scratch scratch(ctx, x);
  for (int distance = 1; distance < P; distance *= 2) {
    const int peer = ctx.rank() ^ distance;
    sendrecv(ctx, x, peer, scratch.like(x), peer);
    accumulate(ctx, Reduce::sum, scratch.like(x), x);
  }
}

void open_mpi_linear_all_to_all(Context ctx, const Tensor& x, const Tensor& y) {
  ctx.comm->transfer(linear_all_to_all(ctx, x, y));
}

void open_mpi_linear_all_to_all_without_put(Context ctx, const Tensor& x, const Tensor& y) {
  const auto messages = linear_all_to_all(ctx, x, y);
  if (!messages.empty()) transfer_without_put(ctx, messages);
}

GlooRing::GlooRing(Context ctx, const Tensor& x)
    : x_(x),
      rank_(ctx.rank()),
      ranks_(ctx.size()),
      segments_(2 * ranks_),
      tmp_(ctx.device->empty_like(longest_part(x, index(segments_)))) {
  TRIGRAM_CHECK(ranks_ % 2 == 0, "expected an even number of ranks, not {}", ranks_);
  TRIGRAM_CHECK(longest_part(x, index(segments_)).nbytes() <= kMostSegmentBytes,
                "gloo makes more than two segments of chunks of more than 2 MiB");
  for (const char* parity : {"even", "odd"})
    streams_.push_back(ctx.stream->fork(fmt::format("gloo_{}_{}", parity, x.numel())));
}

Tensor GlooRing::segment(int i) const {
  return x_.part(index((i + segments_) % segments_), index(segments_));
}

/// One phase of the ring: the reduce-scatter if `reduces`, else the allgather. Iteration i receives
/// segment `begin` + i, except for the first two iterations, and then sends it on, except for the
/// last two. So two segments, that is, one chunk, are in flight at a time.
void GlooRing::phase(Context ctx, int begin, bool reduces) {
  const int to = (rank_ + ranks_ - 1) % ranks_, from = (rank_ + 1) % ranks_;
  const Tensor ready = notice(ctx), peer_ready = notice(ctx);
  std::vector<std::shared_ptr<Work>> sent;
  for (int i = 0; i < segments_; ++i) {
    if (i >= 2) {
      const Tensor mine = segment(begin + i);
      const Tensor arrived = reduces ? tmp_.slice(0, mine.numel()) : mine;
      receive(ctx, arrived, from);
      if (reduces) accumulate(ctx, Reduce::sum, arrived, mine);
      ctx.stream->wait(*sent[index(i - 2)]);
    }
    if (i >= segments_ - 2) continue;
    send(ctx, ready, from);
    sent.push_back(
        sender().submit(ctx, [this, to, peer_ready, out = segment(begin + i)](Context c) {
          receive(c, peer_ready, to);
          send(c, out, to);
        }));
  }
}

void GlooRing::run(Context ctx) {
  const auto work = receiver().submit(ctx, [this](Context c) {
    phase(c, 2 * (rank_ + 1), true);
    phase(c, 2 * rank_, false);
  });
  ctx.stream->wait(*work);
}

}  // namespace trigram
