#pragma once

#include <functional>
#include <map>
#include <vector>

#include "algorithms/membership/state_transfer.h"

namespace trigram {

/// The rounds in which members average, and who averages with whom.
struct Rounds {
  /// The members that average with member `index` of `count` in a round, itself included, as
  /// indices into the list of members; the groups of a round must be disjoint. Empty: all members
  /// are one group, which closes by quorum.
  std::function<std::vector<int>(int index, int count, long round)> group = {};
  /// Without groups: a round closes `grace_s` after this number of members has arrived, or as soon
  /// as all have. If fewer members are left, it closes when they have all arrived.
  int quorum = 1;
  double grace_s = 0;
  /// With groups: they average as soon as one member of the round has arrived, in the background,
  /// without waiting for the others.
  bool background = false;
};

/// Decides, on rank 0, who is a member and who averages in which round. It stands for a service
/// outside of the workers, such as torchft's lighthouse, and does not fail with the worker of
/// rank 0. Its view of the members has a number, the epoch, which grows by one with every change.
///
/// A worker that stops is a member until its absence is noticed: others wait for it. A worker that
/// comes back, or whose round has closed without it, needs the state of a member, and counts as one
/// when it has got it.
class Coordinator {
 public:
  struct Answers {
    /// Tells `rank` to average with `members`, in which it is, in answer to `round`.
    std::function<void(int rank, long round, const std::vector<int>& members)> group;
    /// Tells `rank` that its round has closed without it. It will get a member's state, and forgets
    /// to whom it was to send its own.
    std::function<void(int rank)> late;
    /// Tells `donor` to send its state to `rank`, once it has come to step `least`.
    std::function<void(int donor, int rank, Takes what, long least)> serve;
    /// Tells `rank`, which is late, to go on with its own state, since no member is left.
    std::function<void(int rank)> keep;
    std::function<void(long round)> start_grace;
    std::function<void(long epoch, int members)> view;
    /// Tells all that the workers that are left have made their steps; or that no worker is left
    /// that has the model.
    std::function<void()> all_ended, lost;
  };
  /// `members[rank]` is true if the worker of a rank is there at the beginning.
  Coordinator(Rounds rounds, const std::vector<bool>& members, Answers answers);

  /// `rank` has come to the end of `step`, after which `round` is due.
  void arrive(int rank, long step, long round);
  /// `rank` asks for an average with `partner`, in the background; `number` is for the answer.
  void pair(int rank, int partner, long number);
  void grace_over(long round);
  void stop(int rank);               // its worker stops
  void notice(int rank);             // the others notice it
  void join(int rank, long least);   // a worker is there again; it cannot begin before `least`
  void serves(int donor, int rank);  // the donor begins to send its state to `rank`
  void healed(int rank);             // it has got the state
  void end(int rank);                // it has made all its steps

 private:
  enum class Status { member, stopped, absent, waiting, ended };
  struct Waiting {
    Takes what;
    long least, round;  // its own round, if it is late
    int donor = -1;
    bool comes = false;  // the donor sends it now
  };
  struct Group {
    std::vector<int> members;  // those that are still expected, or have arrived
    std::vector<int> arrived;
    bool released = false;
  };
  struct Pair {
    int rank, partner;
    long number;
  };
  Status& status(int rank) { return status_[static_cast<std::size_t>(rank)]; }
  int count(Status status) const;
  void arrive_in_group(int rank, long round);
  std::vector<Group>& groups_of(long round);
  void release_if_ready(Group& group, long round);
  void release_pairs();
  void close_if_ready();
  void wait_for_state(int rank, const Waiting& waiting);
  void find_donors();
  void drop_donor(int rank);
  int donor_for(int rank) const;
  void check_left();
  void change_view();

  const Rounds rounds_;
  const Answers answers_;
  std::vector<Status> status_;
  std::map<int, Waiting> waiting_;
  std::map<long, std::vector<Group>> open_;  // by round, with groups
  long complete_ = 0;                        // rounds below have no open group
  std::vector<Pair> held_;                   // whose partner has stopped
  std::vector<int> arrived_;                 // without groups: in the round `round_`
  long round_ = 0;
  bool grace_started_ = false, grace_over_ = false, ended_ = false;
  long epoch_ = 0;
};

}  // namespace trigram
