#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/servers/partitions.h"
#include "core/algorithm.h"
#include "core/codec.h"

namespace trigram {

/// A model whose weights lie on servers, each with one of k equal shards, and that workers change
/// by adding to it. With a codec, what travels is coded, with feedback in both directions: a worker
/// adds to its next change what the code of the last has lost; a server sends the difference to
/// what the worker has (of which it keeps a copy), so that what was lost once is sent the next
/// time.
///
/// An exchange is one message each way at the same time, after the worker has asked for it over the
/// control plane: two latencies. No push is acknowledged, and no pull waits for a push, as in
/// DistBelief, whose replicas push gradients and fetch weights apart from each other (Dean et al.,
/// NIPS 2012, section 4.1 and appendix). The asynchronous mode of BytePS, whose pulls wait for
/// their pushes as in its synchronous mode, takes a round trip more than this.
class Shards {
 public:
  Shards(Context ctx, Run& run, const Servers& servers, std::optional<CodecSpec> codec);

  /// The worker's last step becomes a change of the model, to be exchanged.
  void begin_change(Context ctx);
  void end_change(Context ctx);
  /// `worker` hands its change of a shard to `server`, which adds it, and hands the shard's weights
  /// back. Called on both ranks.
  void exchange(Context c, int worker, int server);
  /// The halves of an exchange by themselves, by turns: a push, a pull, a push. Each is called on
  /// both ranks.
  void push(Context c, int worker, int server);
  void pull(Context c, int worker, int server);
  /// All workers get the servers' weights, uncoded. Called on all ranks.
  void collect(Context c);

 private:
  std::size_t shard_on(int server) const;
  Tensor weights_of(std::size_t shard) const { return weights_.part(shard, servers_.count()); }
  Tensor change_of(std::size_t shard) const { return change_.part(shard, servers_.count()); }
  void exchange_as_worker(Context c, int server);
  void exchange_as_server(Context c, int worker);
  void exchange_coded_as_worker(Context c, int server);
  void exchange_coded_as_server(Context c, int worker);
  void send_change(Context c, int server);
  void take_change(Context c, int worker);
  void send_weights(Context c, int worker);
  void take_weights(Context c, int server);
  void count_update(int worker) { steps_.record_staleness(updates_++ - seen_by(worker)); }
  long& seen_by(int worker) { return seen_[static_cast<std::size_t>(worker)]; }
  std::unique_ptr<Codec> codec(Context c, int peer, long use) const;

  Servers servers_;
  std::optional<CodecSpec> codec_;
  std::uint64_t seed_;
  Steps& steps_;
  Tensor weights_, change_;   // the worker's
  Tensor base_, residual_;    // the worker's, with a codec: what it was sent; what codes have lost
  Tensor shard_, incoming_;   // the server's
  std::vector<Tensor> sent_;  // the server's, with a codec: what each worker has
  long updates_ = 0;          // of the own shard
  std::vector<long> seen_;    // updates that each worker's weights include
};

}  // namespace trigram
