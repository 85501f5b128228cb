#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/servers/partitions.h"
#include "core/algorithm.h"
#include "core/codec.h"

namespace trigram {

/// A model on servers, each of which holds one of k equal shards. Workers change the model by
/// adding to it. With a codec, all messages are encoded, with error feedback in both directions. A
/// worker adds the loss of a change's code to its next change. A server keeps a copy of the weights
/// that each worker has, and sends the difference between its shard and this copy. The loss of a
/// code is thus part of the next difference. If a server adds changes as they are, a worker's own
/// change is no part of that difference: both sides add it to the worker's weights.
///
/// In an exchange, after the worker has requested it over the control plane, the two ranks send one
/// message each at the same time: this takes two latencies. No push is acknowledged, and no pull
/// waits for a push. This is the behaviour of DistBelief, whose replicas push gradients and fetch
/// weights independently (Dean et al., NIPS 2012, section 4.1 and appendix). In the asynchronous
/// mode of BytePS pulls wait for their pushes, as in its synchronous mode, so it takes one round
/// trip more.
class Shards {
 public:
  Shards(Context ctx, Run& run, const Servers& servers, std::optional<CodecSpec> codec);

  /// Makes `apply(c, shard, change)` change this server's shard when a change has arrived, in place
  /// of adding the change. Call it on all ranks, without a function where there is no server. Then
  /// use `push` and `pull`, since the worker of an `exchange` assumes that its change is added.
  using Apply = std::function<void(Context, const Tensor& shard, const Tensor& change)>;
  void apply_by(Apply apply) {
    apply_ = std::move(apply);
    adds_ = false;
  }
  /// The weights that this rank serves; empty if it is no server.
  const Tensor& shard() const { return shard_; }

  /// The worker's step between these two calls becomes its next change of the model.
  void begin_change(Context ctx);
  void end_change(Context ctx);
  /// `worker` sends its change of a shard to `server`, which adds it to the shard, and receives the
  /// shard's weights. Called on both ranks.
  void exchange(Context c, int worker, int server);
  /// The two halves of an exchange as separate calls, which must alternate: push, pull, push, ...
  /// Called on both ranks.
  void push(Context c, int worker, int server);
  void pull(Context c, int worker, int server);
  /// Copies the servers' weights, not encoded, to all workers. Called on all ranks.
  void collect(Context c);

 private:
  std::size_t shard_on(int server) const;
  Tensor weights_of(std::size_t shard) const { return weights_.part(shard, servers_.count()); }
  Tensor change_of(std::size_t shard) const { return change_.part(shard, servers_.count()); }
  Tensor base_of(std::size_t shard) const { return base_.part(shard, servers_.count()); }
  Tensor residual_of(std::size_t shard) const { return residual_.part(shard, servers_.count()); }
  void exchange_as_worker(Context c, int server);
  void exchange_as_server(Context c, int worker);
  void exchange_coded_as_worker(Context c, int server);
  void exchange_coded_as_server(Context c, int worker);
  void send_change(Context c, int server);
  void take_change(Context c, int worker);
  void send_weights(Context c, int worker);
  void take_weights(Context c, int server);
  void apply(Context c, const Tensor& change) const { apply_(c, shard_, change); }
  void count_update(int worker) { steps_.record_staleness(updates_++ - seen_by(worker)); }
  long& seen_by(int worker) { return seen_[static_cast<std::size_t>(worker)]; }
  std::unique_ptr<Codec> codec(Context c, int peer, long use) const;

  Servers servers_;
  std::optional<CodecSpec> codec_;
  std::uint64_t seed_;
  Steps& steps_;
  Apply apply_ = [](Context c, const Tensor& shard, const Tensor& change) {
    c.device->axpby(1, change, 1, shard);
  };
  bool adds_ = true;         // a server adds changes as they are
  Tensor weights_, change_;  // on a worker
  // On a worker with a codec: the weights as the servers know them, and the losses of its codes.
  Tensor base_, residual_;
  Tensor shard_, incoming_;   // on a server
  std::vector<Tensor> sent_;  // on a server with a codec: the weights that each worker has
  TrainingState state_;       // owns the number
  long& updates_;             // number of updates of this server's shard
  std::vector<long> seen_;    // number of updates that each worker's weights include
};

}  // namespace trigram
