#include "algorithms/membership/coordinator.h"

#include <algorithm>
#include <utility>

namespace trigram {
namespace {

bool includes(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

}  // namespace

Coordinator::Coordinator(Rounds rounds, const std::vector<bool>& members, Answers answers)
    : rounds_(std::move(rounds)), answers_(std::move(answers)) {
  for (const bool member : members) status_.push_back(member ? Status::member : Status::absent);
}

int Coordinator::count(Status status) const {
  return static_cast<int>(std::ranges::count(status_, status));
}

void Coordinator::change_view() {
  int members = static_cast<int>(status_.size()) - count(Status::absent);
  for (const auto& [rank, state] : waiting_) members -= state.what == Takes::everything ? 1 : 0;
  answers_.view(++epoch_, members);
}

void Coordinator::arrive(int rank, long step, long round) {
  if (rounds_.group) return arrive_in_group(rank, round);
  if (round < round_) {
    answers_.late(rank);
    drop_donor(rank);
    return wait_for_state(rank, {Takes::algorithm, step + 1, round});
  }
  round_ = std::max(round_, round);
  arrived_.push_back(rank);
  close_if_ready();
}

/// The groups of a round are those of the members at the time when the first of them arrives.
std::vector<Coordinator::Group>& Coordinator::groups_of(long round) {
  const auto [entry, is_new] = open_.try_emplace(round);
  if (!is_new) return entry->second;
  std::vector<int> members;
  for (int rank = 0; rank < std::ssize(status_); ++rank)
    if (status(rank) == Status::member || status(rank) == Status::stopped) members.push_back(rank);
  const int size = static_cast<int>(members.size());
  for (int index = 0; index < size; ++index) {
    Group group;
    for (const int other : rounds_.group(index, size, round))
      group.members.push_back(members[static_cast<std::size_t>(other)]);
    std::ranges::sort(group.members);
    if (group.members.front() == members[static_cast<std::size_t>(index)])
      entry->second.push_back(std::move(group));
  }
  return entry->second;
}

void Coordinator::arrive_in_group(int rank, long round) {
  if (round >= complete_) {
    std::vector<Group>& groups = groups_of(round);
    const auto own = std::ranges::find_if(
        groups, [rank](const Group& group) { return includes(group.members, rank); });
    if (own != groups.end() && (!own->released || rounds_.background)) {
      own->arrived.push_back(rank);
      for (Group& group : groups) release_if_ready(group, round);
      const bool whole = std::ranges::all_of(groups, [](const Group& group) {
        return group.released && group.arrived.size() >= group.members.size();
      });
      if (whole && open_.begin()->first == round) {
        open_.erase(round);
        complete_ = round + 1;
      }
      return;
    }
  }
  answers_.group(rank, round, {rank});
}

void Coordinator::release_if_ready(Group& group, long round) {
  if (group.released) return;
  const auto ready = [&](int rank) {
    return rounds_.background ? status(rank) != Status::stopped : includes(group.arrived, rank);
  };
  if (!std::ranges::all_of(group.members, ready)) return;
  group.released = true;
  for (const int rank : group.members) answers_.group(rank, round, group.members);
}

void Coordinator::pair(int rank, int partner, long number) {
  held_.push_back({rank, partner, number});
  release_pairs();
}

void Coordinator::release_pairs() {
  for (const Pair& pair : std::exchange(held_, {})) {
    const Status there = status(pair.partner);
    if (there == Status::stopped) {
      held_.push_back(pair);
    } else if (there == Status::absent || there == Status::waiting) {
      answers_.group(pair.rank, pair.number, {pair.rank});
    } else {
      const std::vector<int> both = {std::min(pair.rank, pair.partner),
                                     std::max(pair.rank, pair.partner)};
      for (const int member : both) answers_.group(member, pair.number, both);
    }
  }
}

void Coordinator::close_if_ready() {
  if (arrived_.empty()) return;
  const int arrived = static_cast<int>(arrived_.size());
  const int expected = count(Status::member) + count(Status::stopped);
  if (arrived < expected) {
    if (arrived < std::min(rounds_.quorum, expected)) return;
    if (rounds_.grace_s > 0 && !grace_over_) {
      if (!std::exchange(grace_started_, true)) answers_.start_grace(round_);
      return;
    }
  }
  std::vector<int> members = std::exchange(arrived_, {});
  std::ranges::sort(members);
  grace_started_ = grace_over_ = false;
  const long round = round_++;
  for (const int rank : members) answers_.group(rank, round, members);
}

void Coordinator::grace_over(long round) {
  if (round != round_) return;
  grace_over_ = true;
  close_if_ready();
}

void Coordinator::stop(int rank) { status(rank) = Status::stopped; }

void Coordinator::notice(int rank) {
  status(rank) = Status::absent;
  change_view();
  for (auto& [round, groups] : open_)
    for (Group& group : groups) {
      if (group.released) continue;
      std::erase(group.members, rank);
      release_if_ready(group, round);
    }
  release_pairs();
  drop_donor(rank);
  find_donors();
  close_if_ready();
  check_left();
}

/// The worker of `rank` sends no state that it has not begun to send.
void Coordinator::drop_donor(int rank) {
  for (auto& [waiting, state] : waiting_)
    if (state.donor == rank && !state.comes) state.donor = -1;
}

void Coordinator::join(int rank, long least) {
  wait_for_state(rank, {Takes::everything, least, -1});
}

void Coordinator::wait_for_state(int rank, const Waiting& waiting) {
  status(rank) = Status::waiting;
  waiting_[rank] = waiting;
  find_donors();
  close_if_ready();
  check_left();
}

/// The next member in the order of ranks, so that donors are different ones; a worker that has made
/// all its steps only if there is no other.
int Coordinator::donor_for(int rank) const {
  const int size = static_cast<int>(status_.size());
  for (const Status wanted : {Status::member, Status::ended})
    for (int k = 1; k < size; ++k)
      if (const int donor = (rank + k) % size; status_[static_cast<std::size_t>(donor)] == wanted)
        return donor;
  return -1;
}

void Coordinator::find_donors() {
  for (auto& [rank, state] : waiting_) {
    if (state.donor >= 0) continue;
    state.donor = donor_for(rank);
    if (state.donor >= 0) answers_.serve(state.donor, rank, state.what, state.least);
  }
}

void Coordinator::serves(int donor, int rank) {
  const auto waiting = waiting_.find(rank);
  if (waiting != waiting_.end() && waiting->second.donor == donor) waiting->second.comes = true;
}

void Coordinator::healed(int rank) {
  const Takes what = waiting_.at(rank).what;
  waiting_.erase(rank);
  status(rank) = Status::member;
  if (what == Takes::everything) change_view();
  find_donors();
}

void Coordinator::end(int rank) {
  status(rank) = Status::ended;
  close_if_ready();
  check_left();
}

/// Looks whether training is over, or cannot go on.
void Coordinator::check_left() {
  if (ended_ || count(Status::member) + count(Status::stopped) > 0) return;
  if (count(Status::ended) > 0) {
    if (!waiting_.empty()) return;
    ended_ = true;
    return answers_.all_ended();
  }
  // A worker to which a state is on its way will have the model.
  if (std::ranges::any_of(waiting_, [](const auto& waiting) { return waiting.second.comes; }))
    return;
  // The late worker whose state is the newest goes on with it.
  auto newest = waiting_.end();
  for (auto w = waiting_.begin(); w != waiting_.end(); ++w)
    if (w->second.what == Takes::algorithm &&
        (newest == waiting_.end() || w->second.round > newest->second.round))
      newest = w;
  if (newest == waiting_.end()) {
    ended_ = true;
    return answers_.lost();
  }
  const int rank = newest->first;
  round_ = newest->second.round + 1;
  waiting_.erase(newest);
  status(rank) = Status::member;
  answers_.keep(rank);
  find_donors();
}

}  // namespace trigram
