#include "algorithms/asynchronous/pair_scheduler.h"

#include <algorithm>

#include "algorithms/execution/control_tag.h"

namespace trigram {
namespace {

// To rank 0: a guest asks, a rank left its meeting, a worker has finished. From rank 0, or from the
// own worker, who meets itself: a meeting. From rank 0: the end.
enum Subject : std::int64_t { kAsk, kLeave, kFinish, kMeet, kEnd };

constexpr int kAnybody = -1;

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

}  // namespace

MeetingBook::MeetingBook(std::vector<int> hosts, int ranks, Grant grant)
    : hosts_(std::move(hosts)),
      grant_(std::move(grant)),
      waiting_(at(ranks)),
      busy_(at(ranks), false) {}

void MeetingBook::ask(int guest) {
  for (const int host : hosts_)
    if (host != guest) waiting_[at(host)].push_back({guest});
  if (!busy_[at(guest)] && !has_due(guest)) match_guest(guest);
}

void MeetingBook::leave(int rank) {
  busy_[at(rank)] = false;
  if (match_due(rank) || match_host(rank) || has_due(rank)) return;
  match_guest(rank);
}

/// Who came earlier was passed over at least as often, so those who are due come first.
bool MeetingBook::has_due(int host) const {
  const auto& guests = waiting_[at(host)];
  return !guests.empty() && is_due(guests.front());
}

/// Hosts that wait for `guest` alone come first.
bool MeetingBook::match_due(int guest) {
  for (const int host : hosts_)
    for (const Waiting& w : waiting_[at(host)]) {
      if (!is_due(w)) break;
      if (w.guest != guest) continue;
      if (!busy_[at(host)] && take(host, guest)) return true;
      break;
    }
  return false;
}

bool MeetingBook::match_host(int host) { return take(host, kAnybody); }

/// Guests begin with different hosts.
void MeetingBook::match_guest(int guest) {
  const auto later = std::upper_bound(hosts_.begin(), hosts_.end(), guest) - hosts_.begin();
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const int host = hosts_[(static_cast<std::size_t>(later) + i) % hosts_.size()];
    if (!busy_[at(host)] && take(host, guest)) return;
  }
}

/// Grants a free host its first free guest, or `only_guest`, unless it waits for another.
bool MeetingBook::take(int host, int only_guest) {
  auto& guests = waiting_[at(host)];
  for (auto w = guests.begin(); w != guests.end(); ++w) {
    const bool due = is_due(*w), wanted = only_guest == kAnybody || only_guest == w->guest;
    if (wanted && !busy_[at(w->guest)] && (due || !has_due(w->guest))) {
      const int guest = w->guest;
      for (auto passed = guests.begin(); passed != w; ++passed) ++passed->passed_over;
      guests.erase(w);
      busy_[at(guest)] = busy_[at(host)] = true;
      grant_(guest, host);
      return true;
    }
    if (due) return false;
  }
  return false;
}

/// The desk of one rank.
struct PairScheduler::Agent : std::enable_shared_from_this<Agent> {
  void run(Context c) {
    const int P = c.world_size;
    MeetingBook book(hosts, P, [&](int guest, int host) {
      for (const int rank : {guest, host}) c.control->post(rank, kPairTag, kMeet, guest * P + host);
    });
    for (int working = P; const auto m = c.control->receive(kPairTag);) {
      if (m->a == kEnd) return;
      if (m->a == kMeet) hold(c, static_cast<int>(m->b / P), static_cast<int>(m->b % P));
      else if (c.world_rank != 0) c.control->post(0, kPairTag, m->a);  // from the own rank
      else if (m->a == kAsk) book.ask(m->source);
      else if (m->a == kLeave) book.leave(m->source);
      else if (--working == 0)
        for (int rank = 0; rank < P; ++rank) c.control->post(rank, kPairTag, kEnd);
    }
  }

  void hold(Context after, int guest, int host) {
    data->submit(after, [self = shared_from_this(), guest, host](Context c) {
      self->meet(c, guest, host);
      if (guest != host) self->desk->post(c.world_rank, kPairTag, kLeave);
      if (guest == c.world_rank) self->main->post(c.world_rank, kPairTag, host);
    });
  }

  std::vector<int> hosts;
  Meet meet;
  Stream* data = nullptr;
  Control *main = nullptr, *desk = nullptr;
};

PairScheduler::PairScheduler(Context ctx, const std::vector<int>& hosts, Meet meet)
    : data_(ctx.stream->fork("meetings")),
      desk_(ctx.stream->fork("desk")),
      agent_(std::make_shared<Agent>()) {
  agent_->hosts = hosts;
  agent_->meet = std::move(meet);
  agent_->data = data_.get();
  agent_->main = ctx.control;
  ctx.stream->wait(*desk_->submit(ctx, [agent = agent_](Context c) { agent->desk = c.control; }));
  loop_ = desk_->submit(ctx, [agent = agent_](Context c) { agent->run(c); });
}

void PairScheduler::meet_all(Context ctx) {
  const int self = ctx.world_rank;
  // By way of the desk, too, so that one stream submits all meetings, in the order of time.
  for (const int host : agent_->hosts)
    if (host == self) agent_->desk->post(self, kPairTag, kMeet, self * ctx.world_size + self);
  agent_->desk->post(self, kPairTag, kAsk);
  for (std::size_t i = 0; i < agent_->hosts.size(); ++i)
    if (!ctx.control->receive(kPairTag)) return;
}

void PairScheduler::finish(Context ctx) {
  agent_->desk->post(ctx.world_rank, kPairTag, kFinish);
  ctx.stream->wait(*loop_);
  ctx.stream->wait(*data_->submit(ctx, [](Context) {}));
}

}  // namespace trigram
