#pragma once

#include <memory>
#include <vector>

#include "algorithms/servers/push_pull.h"
#include "core/algorithm.h"

namespace trigram {

/// The exchanges of one iteration after the other on a rank's communication stream, and the updates
/// of buckets by the gradients that come back. Acknowledged, they are made by stages where the
/// world buffers what ranks send, each stage on a one-way channel of its own; what nodes do inside
/// themselves stays on `comm` before the push, and has a stream of its own after the answer.
class PushPullQueue {
 public:
  /// `comm`, the options' host and what `run` refers to outlive the queue. All ranks make theirs
  /// together. The queue decides whether there are stages.
  PushPullQueue(Context ctx, Stream& comm, Run& run, const Servers& servers,
                PushPull::Options options);

  /// Before the gradients of an iteration are computed; those of the last are no longer waited for.
  void begin();
  /// Queues the exchanges, in their order, that need no bucket after `ready`.
  void issue(Context ctx, int ready);
  void issue_all(Context ctx);
  /// Waits for `bucket` and steps it, with all that are back before it, unless that is done.
  void update(Context ctx, const Bucket& bucket);
  void update_all(Context ctx);
  /// What a rank that only serves does in an iteration: all exchanges, to their end.
  void serve(Context ctx);

 private:
  /// What has to end before an exchange is over for this rank.
  using WorkList = std::vector<std::shared_ptr<Work>>;
  WorkList submit(Context ctx, std::size_t r);
  WorkList submit_stages(Context ctx, std::size_t r);
  static void wait(Context ctx, const WorkList& works);

  Stream& comm_;
  std::vector<OneWay> channels_;        // by stage; none: no stages
  std::unique_ptr<Stream> broadcasts_;  // by stages and hierarchical
  Run& run_;
  std::shared_ptr<const PushPull> rounds_;
  std::vector<int> order_;        // of the buckets, as they come back
  std::vector<WorkList> issued_;  // the exchanges of this iteration
  std::size_t updated_;           // how many buckets in that order
};

}  // namespace trigram
