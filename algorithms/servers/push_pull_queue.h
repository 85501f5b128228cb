#pragma once

#include <memory>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "algorithms/servers/push_pull.h"
#include "core/algorithm.h"

namespace trigram {

/// Runs the exchanges of one iteration (see PushPull) and updates buckets with the gradients that
/// return. The exchanges run one after the other on a rank's communication stream. If pushes are
/// acknowledged and the world buffers sent messages, the exchanges run by stages instead, each
/// stage on its own one-way channel. The reduction inside nodes then runs on `comm` before the
/// push, and the broadcast after the answer runs on another stream.
class PushPullQueue {
 public:
  /// Collective. `comm`, the stream `options.host` and everything that `run` refers to must outlive
  /// the queue. The queue sets `options.by_stages` itself.
  PushPullQueue(Context ctx, Stream& comm, Run& run, const Servers& servers,
                PushPull::Options options);

  /// Call before the gradients of an iteration are computed. From then on the other functions refer
  /// to the exchanges of this iteration.
  void begin();
  /// Queues, in order, the exchanges that need only buckets up to `ready`.
  void issue(Context ctx, int ready);
  void issue_all(Context ctx);
  /// Waits until the mean of `bucket` has returned. Then updates `bucket` and all buckets that
  /// return before it, unless they have been updated already. If the optimizer needs all gradients
  /// at once, waits for the means of all buckets and updates all.
  void update(Context ctx, const Bucket& bucket);
  void update_all(Context ctx);
  /// The whole iteration of a rank that only serves: runs all exchanges and waits for them.
  void serve(Context ctx);

 private:
  // Each returns the works that must end before the exchange is complete on this rank.
  WorkList submit(Context ctx, std::size_t r);
  WorkList submit_stages(Context ctx, std::size_t r);

  Stream& comm_;
  std::vector<OneWay> channels_;        // by stage; empty if exchanges do not run by stages
  std::unique_ptr<Stream> broadcasts_;  // only for hierarchical exchanges by stages
  Run& run_;
  std::shared_ptr<const PushPull> rounds_;
  std::vector<int> order_;        // the buckets in the order in which they return
  std::vector<WorkList> issued_;  // the exchanges of this iteration
  std::size_t updated_;           // number of updated buckets, in that order
};

}  // namespace trigram
