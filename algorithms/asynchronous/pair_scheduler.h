#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/context.h"

namespace trigram {

/// Who is to meet whom: rank 0's book of requests and of ranks that are in a meeting.
///
/// A host takes the first of its waiting guests who is free. One who was passed over as often as
/// there are other guests is due: the host then waits for it alone, or hosts would hardly ever be
/// free to be the guests of other hosts.
class MeetingBook {
 public:
  using Grant = std::function<void(int guest, int host)>;
  MeetingBook(std::vector<int> hosts, int ranks, Grant grant);
  /// `guest` is to meet every host but itself, once.
  void ask(int guest);
  /// `rank` has left its meeting.
  void leave(int rank);

 private:
  struct Waiting {
    int guest;
    int passed_over = 0;
  };
  bool is_due(const Waiting& w) const {
    return w.passed_over + 2 >= static_cast<int>(busy_.size());
  }
  bool has_due(int host) const;
  bool match_due(int guest);
  bool match_host(int host);
  void match_guest(int guest);
  bool take(int host, int only_guest);

  std::vector<int> hosts_;
  Grant grant_;
  std::vector<std::deque<Waiting>> waiting_;  // for each rank, in the order of requests
  std::vector<bool> busy_;
};

/// Exchanges between pairs of ranks, in whatever order they ask, that are reserved first: a rank is
/// in one meeting at a time, and both sides have committed before either begins. So all ranks issue
/// in compatible orders: that of the grants.
///
/// Every rank has two streams, forked here: `desk`, on which control messages go to and from rank
/// 0, which keeps the book, and `data`, on which the meetings take place. A host answers whether
/// its own worker is computing or not.
class PairScheduler {
 public:
  /// What a rank does in a meeting of `guest` with `host`, of which it is one, or both.
  using Meet = std::function<void(Context, int guest, int host)>;
  /// Collective, on the main stream. What `meet` refers to must be owned by it.
  PairScheduler(Context ctx, const std::vector<int>& hosts, Meet meet);

  /// On the main stream: meets every host once. Returns when the last meeting is over.
  void meet_all(Context ctx);
  /// On the main stream, last: returns when no rank will meet any more.
  void finish(Context ctx);
  /// Where meetings take place; free for other uses after `finish`.
  Stream& data() { return *data_; }

 private:
  struct Agent;
  std::unique_ptr<Stream> data_, desk_;  // data outlives the desk, which submits to it
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
