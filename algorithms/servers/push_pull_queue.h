#pragma once

#include <memory>
#include <vector>

#include "algorithms/servers/push_pull.h"
#include "core/algorithm.h"

namespace trigram {

/// Runs the exchanges of one iteration one after the other on a rank's communication stream, and
/// updates buckets with the gradients that return. If acknowledged, and if the world buffers sent
/// messages, the exchanges run by stages, each stage on a one-way channel of its own; the reduction
/// inside nodes then runs on `comm` before the push, and the broadcast after the answer has a
/// stream of its own.
class PushPullQueue {
 public:
  /// `comm`, the options' host and everything that `run` refers to must outlive the queue.
  /// Collective. The queue itself sets `by_stages`.
  PushPullQueue(Context ctx, Stream& comm, Run& run, const Servers& servers,
                PushPull::Options options);

  /// Call before the gradients of an iteration are computed. The queue no longer waits for the
  /// gradients of the last iteration.
  void begin();
  /// Queues, in order, the exchanges that need no bucket after `ready`.
  void issue(Context ctx, int ready);
  void issue_all(Context ctx);
  /// Waits for `bucket`, and steps it and all buckets that return before it, unless that is done.
  void update(Context ctx, const Bucket& bucket);
  void update_all(Context ctx);
  /// The whole iteration of a rank that only serves: runs all exchanges to their end.
  void serve(Context ctx);

 private:
  /// The works that must end before an exchange is over for this rank.
  using WorkList = std::vector<std::shared_ptr<Work>>;
  WorkList submit(Context ctx, std::size_t r);
  WorkList submit_stages(Context ctx, std::size_t r);
  static void wait(Context ctx, const WorkList& works);

  Stream& comm_;
  std::vector<OneWay> channels_;        // by stage; empty: not by stages
  std::unique_ptr<Stream> broadcasts_;  // only by stages and hierarchical
  Run& run_;
  std::shared_ptr<const PushPull> rounds_;
  std::vector<int> order_;        // of the buckets, as they return
  std::vector<WorkList> issued_;  // the exchanges of this iteration
  std::size_t updated_;           // number of updated buckets, in that order
};

}  // namespace trigram
