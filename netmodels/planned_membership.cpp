#include "netmodels/planned_membership.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trigram {

PlannedMembership::PlannedMembership(const Failures& failures, std::int64_t nodes,
                                     std::int64_t workers_per_node)
    : failures_(failures),
      workers_per_node_(workers_per_node),
      ranks_(static_cast<std::size_t>(nodes * workers_per_node)) {
  const int ranks = static_cast<int>(ranks_.size());
  if (failures.heartbeats) detector_.emplace(*failures.heartbeats, ranks_.size());
  fewest_ = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    at(rank).sequence = std::make_unique<FailureSequence>(failures, nodes);
    advance(rank, 0);
    if (begins(rank)) ++fewest_;
  }
}

bool PlannedMembership::concerns(const Failure& f, int rank) const {
  return !f.has({Failure::Kind::freeze, Failure::Kind::partition}) &&
         f.first_rank(workers_per_node_) <= rank && rank <= f.last_rank(workers_per_node_);
}

void PlannedMembership::advance(int rank, double from_s) {
  Failure& next = at(rank).next;
  do {
    next = at(rank).sequence->next(from_s);
    from_s = std::max(from_s, next.at_s);
  } while (std::isfinite(next.at_s) && !concerns(next, rank));
}

double PlannedMembership::next_join_s(int rank, double from_s) const {
  for (const Failure& event : failures_.events)
    if (event.kind == Failure::Kind::join && event.at_s >= from_s && concerns(event, rank))
      return event.at_s;
  return std::numeric_limits<double>::infinity();
}

bool PlannedMembership::begins(int rank) const {
  return begins_there(failures_, rank, workers_per_node_);
}

std::optional<Absence> PlannedMembership::absence(int rank, double now_s) {
  std::lock_guard lock(mutex_);
  Rank& own = at(rank);
  if (!std::exchange(own.begun, true)) {
    own.origin_s = now_s;
    if (!begins(rank)) {
      const double back_s = next_join_s(rank, 0);
      advance(rank, std::nextafter(back_s, std::numeric_limits<double>::infinity()));
      return Absence{Absence::late, 0, own.origin_s + back_s};
    }
  }
  const double time_s = now_s - own.origin_s;
  while (own.next.at_s <= time_s) {
    if (own.next.kind != Failure::Kind::join) return begin(rank, time_s);
    advance(rank, own.next.at_s);  // the worker was still there when the next one came
  }
  if (!suspects(rank, now_s)) return std::nullopt;
  own.kind = Absence::suspicion;
  return Absence{Absence::suspicion, 0, now_s};
}

/// True if no heartbeat of the worker of `rank`, which is there, has arrived in time.
bool PlannedMembership::suspects(int rank, double now_s) const {
  return detector_ && detector_->expects(rank) &&
         (detector_->suspected_s(rank) <= now_s || detector_->deadline_s(rank) < now_s);
}

/// The time until the others notice that the worker of `rank` stops now.
double PlannedMembership::noticed_after_s(int rank, double now_s) const {
  if (!detector_) return failures_.detection_s;
  return std::max(0.0, detector_->deadline_s(rank) - now_s);
}

/// The worker stops at `time_s`. What happens to this rank before a worker is there again has no
/// effect.
Absence PlannedMembership::begin(int rank, double time_s) {
  Rank& own = at(rank);
  Absence absence;
  const double event_s = own.next.at_s;
  double back_s = 0;
  if (own.next.kind == Failure::Kind::leave) {
    absence.kind = Absence::leave;
    back_s = std::max(next_join_s(rank, event_s), time_s);
  } else {
    absence.noticed_after_s = noticed_after_s(rank, own.origin_s + time_s);
    const double noticed_s = time_s + absence.noticed_after_s;
    back_s = failures_.replace ? noticed_s + failures_.restart_s
                               : std::max(next_join_s(rank, event_s), noticed_s);
  }
  if (std::isfinite(back_s))
    advance(rank, std::nextafter(back_s, std::numeric_limits<double>::infinity()));
  absence.back_s = own.origin_s + back_s;
  own.kind = absence.kind;
  return absence;
}

void PlannedMembership::view_changed(long epoch, int members) {
  std::lock_guard lock(mutex_);
  epochs_ = epoch;
  fewest_ = std::min(fewest_, members);
}

void PlannedMembership::stopped(int rank, long step, double now_s) {
  std::lock_guard lock(mutex_);
  Rank& own = at(rank);
  if (detector_) detector_->silence(rank);
  own.records.push_back(
      {.rank = rank, .kind = own.kind, .stopped_s = now_s - own.origin_s, .stopped_step = step});
}

void PlannedMembership::healed(int rank, int peer, long step, double now_s) {
  std::lock_guard lock(mutex_);
  if (detector_) detector_->expect(rank, now_s);
  Record& record = at(rank).records.back();
  record.peer = peer;
  record.healed_s = now_s - at(rank).origin_s;
  record.healed_step = step;
}

void PlannedMembership::late(int, long steps) {
  std::lock_guard lock(mutex_);
  ++late_rounds_;
  late_steps_ += steps;
}

std::vector<PlannedMembership::Record> PlannedMembership::records() const {
  std::vector<Record> all;
  for (const Rank& rank : ranks_) all.insert(all.end(), rank.records.begin(), rank.records.end());
  return all;
}

}  // namespace trigram
