#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/context.h"

namespace trigram {

/// Decides on rank 0 which pairs of ranks exchange next, given the waiting requests and the ranks
/// that are busy with an exchange.
///
/// A server serves the first of its waiting requesters that is free. A request becomes urgent when
/// it has been skipped once per other requester: its server then serves it next. Without this rule
/// a rank that is a server would rarely be free to make its own requests to other servers.
class PairMatcher {
 public:
  using Grant = std::function<void(int requester, int server)>;
  PairMatcher(std::vector<int> servers, int ranks, Grant grant);
  /// Registers the requests of `requester`: an exchange with each server except itself.
  void request(int requester);
  /// Call when the exchange of `rank` has ended.
  void release(int rank);

 private:
  struct Waiting {
    int requester;
    int times_skipped = 0;
  };
  bool is_urgent(const Waiting& w) const {
    return w.times_skipped + 2 >= static_cast<int>(busy_.size());
  }
  bool has_urgent(int server) const;
  bool match_urgent(int requester);
  void match_requester(int requester);
  bool grant_first(int server, int only_requester);

  std::vector<int> servers_;
  Grant grant_;
  std::vector<std::deque<Waiting>> waiting_;  // by server, in the order of requests
  std::vector<bool> busy_;
};

/// Exchanges between pairs of ranks, in whatever order ranks request them. Exchanges are reserved
/// first: a rank is in at most one exchange at a time, and both sides have committed before either
/// begins. So all ranks issue their exchanges in a consistent order: the order of the grants.
///
/// The constructor forks two streams per rank: `desk`, for control messages to and from rank 0,
/// which owns the PairMatcher, and `meetings`, on which the exchanges run. A server serves even
/// while its own worker computes.
class PairScheduler {
 public:
  /// The exchange of `requester` with `server`. The calling rank is one of them, or both.
  using Exchange = std::function<void(Context, int requester, int server)>;
  /// Collective, on the main stream. `exchange` must own everything that it refers to.
  PairScheduler(Context ctx, const std::vector<int>& servers, Exchange exchange);

  /// Called on the main stream: exchanges with every server once. Returns when the last exchange is
  /// over.
  void exchange_with_all_servers(Context ctx);
  /// Called on the main stream at the end: returns when no rank will exchange any more.
  void finish(Context ctx);
  /// The stream on which exchanges run; free for other uses after `finish`.
  Stream& data() { return *data_; }

 private:
  struct Agent;
  // data_ is destroyed last, since the other stream submits to it.
  std::unique_ptr<Stream> data_, control_stream_;
  std::shared_ptr<Agent> agent_;
  std::shared_ptr<Work> loop_;
};

}  // namespace trigram
