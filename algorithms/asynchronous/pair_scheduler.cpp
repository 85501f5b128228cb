#include "algorithms/asynchronous/pair_scheduler.h"

#include <algorithm>

#include "algorithms/execution/control_tag.h"

namespace trigram {
namespace {

// Messages to rank 0: kRequest (a request), kExchangeEnded (a rank's exchange has ended) and
// kWorkerEnded (a worker has ended). Messages from rank 0: kExchange (an exchange to run; a worker
// also sends it to itself, for the server on its own rank) and kNoMoreExchanges (there are no more
// exchanges).
enum PairMessage : std::int64_t {
  kRequest,
  kExchangeEnded,
  kWorkerEnded,
  kExchange,
  kNoMoreExchanges
};

constexpr int kAnyRequester = -1;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

PairMatcher::PairMatcher(std::vector<int> servers, int ranks, Grant grant)
    : servers_(std::move(servers)),
      grant_(std::move(grant)),
      waiting_(at(ranks)),
      busy_(at(ranks), false) {}

void PairMatcher::request(int requester) {
  for (const int server : servers_)
    if (server != requester) waiting_[at(server)].push_back({requester});
  if (!busy_[at(requester)] && !has_urgent(requester)) match_requester(requester);
}

void PairMatcher::release(int rank) {
  busy_[at(rank)] = false;
  if (match_urgent(rank) || grant_first(rank, kAnyRequester) || has_urgent(rank)) return;
  match_requester(rank);
}

/// It is enough to look at the first request: earlier requests were skipped at least as often, so
/// urgent requests come first.
bool PairMatcher::has_urgent(int server) const {
  const auto& requests = waiting_[at(server)];
  return !requests.empty() && is_urgent(requests.front());
}

/// Matches `requester` with a free server at which its request is urgent.
bool PairMatcher::match_urgent(int requester) {
  for (const int server : servers_)
    for (const Waiting& w : waiting_[at(server)]) {
      if (!is_urgent(w)) break;
      if (w.requester != requester) continue;
      if (!busy_[at(server)] && grant_first(server, requester)) return true;
      break;
    }
  return false;
}

/// Begins the search at a different server for each requester.
void PairMatcher::match_requester(int requester) {
  const auto first =
      std::upper_bound(servers_.begin(), servers_.end(), requester) - servers_.begin();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const int server = servers_[(static_cast<std::size_t>(first) + i) % servers_.size()];
    if (!busy_[at(server)] && grant_first(server, requester)) return;
  }
}

/// Grants a free server its first free requester, unless another request is urgent. If
/// `only_requester` is given, considers only that rank.
bool PairMatcher::grant_first(int server, int only_requester) {
  auto& requests = waiting_[at(server)];
  for (auto w = requests.begin(); w != requests.end(); ++w) {
    const bool urgent = is_urgent(*w),
               wanted = only_requester == kAnyRequester || only_requester == w->requester;
    if (wanted && !busy_[at(w->requester)] && (urgent || !has_urgent(w->requester))) {
      const int requester = w->requester;
      for (auto skipped = requests.begin(); skipped != w; ++skipped) ++skipped->times_skipped;
      requests.erase(w);
      busy_[at(requester)] = busy_[at(server)] = true;
      grant_(requester, server);
      return true;
    }
    if (urgent) return false;
  }
  return false;
}

/// The control agent of one rank.
struct PairScheduler::Agent : std::enable_shared_from_this<Agent> {
  void run(Context c) {
    const int P = c.world_size;
    PairMatcher matcher(servers, P, [&](int requester, int server) {
      for (const int rank : {requester, server})
        c.control->post(rank, kPairTag, kExchange, requester * P + server);
    });
    for (int working = P; const auto m = c.control->receive(kPairTag);) {
      if (m->a == kNoMoreExchanges) return;
      if (m->a == kExchange)
        run_exchange(c, static_cast<int>(m->b / P), static_cast<int>(m->b % P));
      else if (c.world_rank != 0) c.control->post(0, kPairTag, m->a);  // from this rank's worker
      else if (m->a == kRequest) matcher.request(m->source);
      else if (m->a == kExchangeEnded) matcher.release(m->source);
      else if (--working == 0)
        for (int rank = 0; rank < P; ++rank) c.control->post(rank, kPairTag, kNoMoreExchanges);
    }
  }

  void run_exchange(Context after, int requester, int server) {
    data->submit(after, [self = shared_from_this(), requester, server](Context c) {
      self->exchange(c, requester, server);
      if (requester != server) self->control->post(c.world_rank, kPairTag, kExchangeEnded);
      if (requester == c.world_rank) self->main->post(c.world_rank, kPairTag, server);
    });
  }

  std::vector<int> servers;
  Exchange exchange;
  Stream* data = nullptr;
  Control *main = nullptr, *control = nullptr;
};

PairScheduler::PairScheduler(Context ctx, const std::vector<int>& servers, Exchange exchange)
    : data_(ctx.stream->fork("meetings")),
      control_stream_(ctx.stream->fork("desk")),
      agent_(std::make_shared<Agent>()) {
  agent_->servers = servers;
  agent_->exchange = std::move(exchange);
  agent_->data = data_.get();
  agent_->main = ctx.control;
  ctx.stream->wait(
      *control_stream_->submit(ctx, [agent = agent_](Context c) { agent->control = c.control; }));
  loop_ = control_stream_->submit(ctx, [agent = agent_](Context c) { agent->run(c); });
}

void PairScheduler::exchange_with_all_servers(Context ctx) {
  const int self = ctx.world_rank;
  // The exchange of a rank with itself also goes through the agent, so that a single stream submits
  // all exchanges, in order of time.
  for (const int server : agent_->servers)
    if (server == self)
      agent_->control->post(self, kPairTag, kExchange, self * ctx.world_size + self);
  agent_->control->post(self, kPairTag, kRequest);
  for (std::size_t i = 0; i < agent_->servers.size(); ++i)
    if (!ctx.control->receive(kPairTag)) return;
}

void PairScheduler::finish(Context ctx) {
  agent_->control->post(ctx.world_rank, kPairTag, kWorkerEnded);
  ctx.stream->wait(*loop_);
  ctx.stream->wait(*data_->submit(ctx, [](Context) {}));
}

}  // namespace trigram
