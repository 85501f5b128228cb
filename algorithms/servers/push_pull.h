#pragma once

#include <span>
#include <vector>

#include "algorithms/servers/assignment.h"
#include "algorithms/servers/partitions.h"
#include "core/algorithm.h"
#include "core/workload.h"

namespace trigram {

/// Sends the gradients of one iteration to the servers and returns their means, in place.
///
/// `assign` defines the partitions, their servers and the rounds in which they travel. They depend
/// only on the buckets, so they are the same on all ranks. All ranks call the exchanges 0 ..
/// exchanges()-1 in this order. Ranks that only serve call them too: they push and pull nothing,
/// and end with the means of only their own partitions.
///
/// If acknowledged, a partition needs two round trips, as in BytePS over ps-lite. The worker pushes
/// it, and the server acknowledges each push when it arrives (byteps/server/server.cc:
/// SendPushResponse). Only then does the worker request the mean, since the task enters its next
/// queue, PULL, in the callback of the push (byteps/common/core_loops.cc, RunPushLoopOnce:
/// `ZPush(pskv.keys, vals, pskv.lens, cmd, [task, q]() { FinishOrProceed(task); })`). The server
/// answers when it has summed the pushes of all workers. If not acknowledged, servers answer
/// without a request.
///
/// There are two ways to run the stages of a round. *By stages*, each stage uses its own one-way
/// channel. A rank's sends in a stage wait for its receives in the previous stage, and for its
/// sends in the same stage of earlier rounds. As in BytePS, no round then waits for the messages of
/// another round. This needs a world that buffers sent messages. *On a single stream*, exchange r
/// is one batch: it pushes round r, acknowledges round r-1, requests round r-2 and answers round
/// r-3, so servers receive and send at the same time. Without acknowledgements, it pushes round r
/// and answers round r-1.
///
/// With a `host` stream, tensors cross the memory of the rank's host, as in BytePS: the host sends
/// them, adds up the tensors that it receives, and returns the means. A round crosses the host
/// while its messages are in flight. In simulated time, Cost::Kind::host is charged for every byte
/// of a gradient that a worker pushes (once for both directions) and, on ranks that only serve, for
/// every byte that arrives.
///
/// In hierarchical execution, node leaders are the workers and the servers: each node first
/// computes the mean of its gradients, its leader pushes this mean, and then broadcasts the answer
/// inside the node.
class PushPull {
 public:
  struct Options {
    std::size_t partition_bytes = 0;  // size of the longest partition
    double early = 1;                 // see `assign`
    Execution execution = {};
    Stream* host = nullptr;  // charged for the bytes that cross the rank's host; null: none do
    Assignment assignment = Assignment::round_robin;
    bool acknowledged = false;
    bool by_stages = false;  // each stage on its own one-way channel
  };
  /// The stages of a round, in order. `acknowledge` and `request` exist only if acknowledged.
  enum class Stage { push, acknowledge, request, answer };

  /// Sizes of ps-lite's messages without values. Each partition and worker has one acknowledgement
  /// and one request. Both contain a struct of 112 bytes (src/meta.h, RawMeta); a request also
  /// contains the key of 8 bytes (include/ps/kv_app.h, KVWorker::Send).
  static constexpr std::size_t kAcknowledgement_bytes = 112, kRequest_bytes = 120;

  PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers, const Options& options);

  /// The number of exchanges. By stages, exchange r is round r.
  std::size_t exchanges() const { return rounds() + answer_after(); }
  /// The last bucket, in the order of backward, that has a partition among the pushes of exchange
  /// r.
  int last_bucket(std::size_t r) const;
  /// The exchange that returns the last part of a bucket.
  std::size_t completing_exchange(int bucket) const;
  /// The buckets in the order in which their means return.
  std::vector<int> order() const;
  /// Runs exchange r. A mean is the sum in the order of the workers' ranks, divided once.
  void exchange(Context c, std::size_t r) const;
  /// Sends this rank's messages of a stage of round r, on the stream `out` of the stage's channel,
  /// or receives them, on the stream `in`. When a server has received a round's pushes, it computes
  /// the means of its partitions.
  void send(Stage stage, Context c, std::size_t r) const;
  void receive(Stage stage, Context c, std::size_t r) const;
  /// The part of a round inside the nodes, in hierarchical execution: before the push, and after
  /// the answer.
  void reduce(Context c, std::size_t r) const;
  void broadcast(Context c, std::size_t r) const;

 private:
  /// The partitions in one batch of messages, by their stage.
  struct Batch {
    std::span<const Partition> push = {}, acknowledge = {}, request = {}, answer = {};
  };
  /// The number of exchanges from the push of a round to its answer.
  std::size_t answer_after() const {
    return options_.by_stages ? 0 : options_.acknowledged ? 3 : 1;
  }
  std::size_t rounds() const { return partitions_.back().round + 1; }
  bool is_worker() const { return own_ < workers_.ranks.size(); }
  template <class Body>
  void with_servers(Context c, Body body) const;
  void exchange_with_servers(Context c, const Batch& batch) const;
  void transfer_stage(Transfer::Kind kind, Stage stage, Context c, std::size_t r) const;
  void reduce(Context c, std::span<const Partition> partitions) const;
  void broadcast(Context c, std::span<const Partition> partitions) const;
  Batch batch_of(Stage stage, std::size_t r) const;
  std::vector<Transfer> transfers_of(Context c, const Batch& batch) const;
  std::span<const Partition> of_round(std::size_t r) const;
  std::span<const Partition> before(std::size_t exchanges, std::size_t r) const;
  std::vector<Tensor> grads_of(std::span<const Partition> partitions) const;
  std::shared_ptr<Work> charge_host(Context c, std::span<const Partition> pushed) const;
  int server_of(const Partition& x) const { return servers_.rank_of(x.server); }
  Tensor buffer(std::size_t j, const Partition& x) const;
  void add_messages(Context c, Stage stage, const Partition& x, std::vector<Transfer>& batch) const;
  Tensor notices_buffer(Device& device, int own) const;
  void average(Context c, std::span<const Partition> pushed) const;

  Servers servers_;
  Workers workers_;
  Options options_;
  std::vector<Partition> partitions_;    // in the order of rounds
  std::vector<std::size_t> completing_;  // the completing exchange of each bucket
  std::size_t own_;  // the rank's index among the workers; past the end if the rank only serves
  // On servers: a buffer for each worker's pushes of a round. The buffer at the rank's own index
  // holds the sums.
  std::vector<Tensor> buffers_;
  // Buffers for all acknowledgements and requests of a batch; nothing depends on their values.
  Tensor acknowledgements_, requests_;
};

}  // namespace trigram
