#include "algorithms/asynchronous/group_scheduler.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "algorithms/execution/control_tag.h"
#include "algorithms/peers/peer_graph.h"

namespace trigram {

PathSearch::PathSearch(const PeerGraph& graph, int ranks)
    : finished_(at(ranks), false),
      finished_last_(at(ranks), false),
      component_(at(ranks)),
      components_(ranks) {
  for (int rank = 0; rank < ranks; ++rank)
    neighbours_.push_back(graph.peers(rank, ranks, 0).send_to);
  std::iota(component_.begin(), component_.end(), 0);
}

std::vector<int> PathSearch::finish(int rank) {
  finished_[at(rank)] = true;
  if (!accept_edges()) return {};
  std::vector<int> members;
  for (int r = 0; r < static_cast<int>(finished_.size()); ++r)
    if (finished_[at(r)]) members.push_back(r);
  finished_ = finished_last_;
  return members;
}

std::vector<int> PathSearch::finish_last(int rank) {
  finished_last_[at(rank)] = true;
  return finish(rank);
}

/// Accepts all possible edges, one by one in the order of ranks. If there is only one rank, it
/// never waits.
bool PathSearch::accept_edges() {
  bool any = finished_.size() == 1;
  for (int a = 0; a < static_cast<int>(finished_.size()); ++a)
    for (const int b : neighbours_[at(a)]) {
      if (!finished_[at(a)] || !finished_[at(b)] || component_[at(a)] == component_[at(b)])
        continue;
      any = true;
      std::replace(component_.begin(), component_.end(), int{component_[at(b)]},
                   int{component_[at(a)]});
      --components_;
    }
  if (components_ == 1) {
    std::iota(component_.begin(), component_.end(), 0);
    components_ = static_cast<int>(component_.size());
  }
  return any;
}

namespace {

// Messages to rank 0: kFinished (a step is finished) and kFinishedLast (the last step is finished).
// Messages from rank 0, which the agent passes on to the worker: kPeer (a peer in the next group),
// kGroup (the group is complete) and kNoMoreGroups (there are no more groups).
enum GroupMessage : std::int64_t { kFinished, kFinishedLast, kPeer, kGroup, kNoMoreGroups };

/// The worker's next group; empty if there are no more groups, or if the world is ending.
std::optional<Peers> next_group(Context ctx) {
  std::vector<Peers::Source> edges;
  while (const auto m = ctx.control->receive(kGroupTag)) {
    if (m->a == kNoMoreGroups) break;
    if (m->a == kGroup) return undirected(ctx.world_rank, edges);
    // The larger number of peers of the two ranks.
    const auto degree = static_cast<float>(m->b % ctx.world_size);
    edges.push_back({static_cast<int>(m->b / ctx.world_size), 1 / (1 + degree)});
  }
  return std::nullopt;
}

}  // namespace

/// The control agent of one rank.
struct GroupScheduler::Agent {
  explicit Agent(PathSearch path_search) : search(std::move(path_search)) {}

  void run(Context c) {
    for (int working = c.world_size; const auto m = c.control->receive(kGroupTag);) {
      const bool last = m->a == kFinishedLast;
      if (m->a != kFinished && !last) {
        main->post(c.world_rank, kGroupTag, m->a, m->b);
        if (m->a == kNoMoreGroups) return;
      } else if (c.world_rank != 0) {
        c.control->post(0, kGroupTag, m->a);  // from the rank's own worker
      } else {
        announce(c, last ? search.finish_last(m->source) : search.finish(m->source));
        if (last && --working == 0)
          for (int rank = 0; rank < c.world_size; ++rank)
            c.control->post(rank, kGroupTag, kNoMoreGroups);
      }
    }
  }

  /// Posts to every member of a group its peers in the group.
  void announce(Context c, const std::vector<int>& members) {
    std::vector<std::vector<int>> peers(static_cast<std::size_t>(c.world_size));
    const auto peers_of = [&](int rank) -> auto& { return peers[static_cast<std::size_t>(rank)]; };
    for (const int member : members)
      for (const int peer : search.neighbours(member))
        if (std::binary_search(members.begin(), members.end(), peer))
          peers_of(member).push_back(peer);
    for (const int member : members) {
      for (const int peer : peers_of(member)) {
        const auto degree =
            static_cast<std::int64_t>(std::max(peers_of(member).size(), peers_of(peer).size()));
        c.control->post(member, kGroupTag, kPeer, std::int64_t{peer} * c.world_size + degree);
      }
      c.control->post(member, kGroupTag, kGroup);
    }
  }

  PathSearch search;                            // used only on rank 0
  Control *main = nullptr, *control = nullptr;  // of the main stream, and of the agent's stream
};

GroupScheduler::GroupScheduler(Context ctx, const PeerGraph& graph)
    : stream_(ctx.stream->fork("desk")),
      agent_(std::make_shared<Agent>(PathSearch(graph, ctx.world_size))) {
  agent_->main = ctx.control;
  ctx.stream->wait(
      *stream_->submit(ctx, [agent = agent_](Context c) { agent->control = c.control; }));
  loop_ = stream_->submit(ctx, [agent = agent_](Context c) { agent->run(c); });
}

Peers GroupScheduler::join(Context ctx) {
  agent_->control->post(ctx.world_rank, kGroupTag, kFinished);
  return next_group(ctx).value_or(Peers{});
}

void GroupScheduler::join_until_end(Context ctx,
                                    const std::function<void(const Peers&)>& exchange) {
  agent_->control->post(ctx.world_rank, kGroupTag, kFinishedLast);
  while (const auto peers = next_group(ctx)) exchange(*peers);
  ctx.stream->wait(*loop_);
}

}  // namespace trigram
