#pragma once

#include <span>
#include <vector>

#include "algorithms/servers/assignment.h"
#include "algorithms/servers/partitions.h"
#include "core/algorithm.h"
#include "core/workload.h"

namespace trigram {

/// How the gradients of one iteration go to the servers and come back as their mean, in place.
///
/// Partitions, their servers and the rounds in which they travel are those of `assign`. They follow
/// from the buckets alone, so they are the same on all ranks. All ranks call the exchanges
/// 0 .. exchanges()-1 in this order, also those that only serve: they push and pull nothing, and
/// have means of their own partitions alone.
///
/// Acknowledged, a partition pays two round trips, as in BytePS over ps-lite. Its worker pushes it;
/// the server acknowledges each push as it comes in (byteps/server/server.cc: SendPushResponse);
/// the worker asks for the mean only then, since the task goes on to its next queue, PULL, in the
/// callback of the push (byteps/common/core_loops.cc, RunPushLoopOnce: `ZPush(pskv.keys, vals,
/// pskv.lens, cmd, [task, q]() { FinishOrProceed(task); })`); and the server answers once it has
/// summed up what all workers pushed. Otherwise servers answer without being asked.
///
/// The stages of a round are made in one of two ways. Each on a one-way channel of its own, what a
/// rank sends of a stage waits for what it has received of the stage before, and for what it has
/// sent of the same stage of earlier rounds: as in BytePS, no round waits for the messages of
/// another. This is for worlds that buffer what is sent. On a single stream, exchange r pushes
/// round r, acknowledges round r-1, requests round r-2 and answers round r-3 in one batch, so
/// servers receive and send at once (not acknowledged, it answers round r-1).
///
/// Through the host, tensors are copied to the memory of a worker's host, which sends them, adds up
/// what comes in and hands back the means, as BytePS does. A round passes it while its messages are
/// under way; simulated time pays with Cost::Kind::host for every byte of it that the worker hands
/// over and has back, or, on ranks that only serve, that comes in.
///
/// Hierarchical, the leaders of nodes are workers and servers: each node pushes its mean, which is
/// formed inside it before, and what comes back is broadcast inside it.
class PushPull {
 public:
  struct Options {
    std::size_t partition_bytes = 0;  // the longest
    double early = 1;                 // as of `assign`
    Execution execution = {};
    Stream* host = nullptr;  // of the rank, for what passes its host; null: nothing does
    Assignment assignment = Assignment::round_robin;
    bool acknowledged = false;
    bool by_stages = false;  // each stage on a one-way channel of its own
  };
  /// Of a round, in order. The others are there if acknowledged alone.
  enum class Stage { push, acknowledge, request, answer };

  /// What ps-lite sends without values: one message for each partition and worker. Its meta data is
  /// a struct of 112 bytes (src/meta.h, RawMeta); a request has the key of 8 bytes with it
  /// (include/ps/kv_app.h, KVWorker::Send).
  static constexpr std::size_t kAcknowledgement_bytes = 112, kRequest_bytes = 120;

  PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers, const Options& options);

  /// By stages, exchange r is round r.
  std::size_t exchanges() const { return rounds() + answer_after(); }
  /// The bucket with which all that exchange r pushes is complete.
  int needs(std::size_t r) const;
  /// The exchange with which all of a bucket is back.
  std::size_t completes(int bucket) const;
  /// The buckets in the order in which they are back.
  std::vector<int> order() const;
  /// Means are sums in the order of the workers' ranks, divided once.
  void exchange(Context c, std::size_t r) const;
  /// What this rank sends of a stage of round r, on the `out` of the stage's channel, and what it
  /// receives, on the `in`; a server that has received a round's pushes forms its means.
  void send(Stage stage, Context c, std::size_t r) const;
  void receive(Stage stage, Context c, std::size_t r) const;
  /// Before the push and after the answer, hierarchical: what the nodes do inside themselves.
  void reduce(Context c, std::size_t r) const;
  void broadcast(Context c, std::size_t r) const;

 private:
  /// Partitions of which one batch of messages makes these stages.
  struct Batch {
    std::span<const Partition> push = {}, acknowledge = {}, request = {}, answer = {};
  };
  /// Exchanges between the push of a round and its answer.
  std::size_t answer_after() const {
    return options_.by_stages ? 0 : options_.acknowledged ? 3 : 1;
  }
  std::size_t rounds() const { return partitions_.back().round + 1; }
  bool works() const { return own_ < workers_.ranks.size(); }
  void exchange_among_servers(Context c, const Batch& batch) const;
  void pass(Transfer::Kind kind, Stage stage, Context c, std::size_t r) const;
  void pass_among_servers(Transfer::Kind kind, Stage stage, Context c, std::size_t r) const;
  template <class Among>
  void among_servers(Context c, Among among) const;
  void reduce(Context c, std::span<const Partition> partitions) const;
  void broadcast(Context c, std::span<const Partition> partitions) const;
  Batch batch_of(Stage stage, std::size_t r) const;
  std::vector<Transfer> transfers_of(Context c, const Batch& batch) const;
  std::span<const Partition> of_round(std::size_t r) const;
  std::span<const Partition> before(std::size_t exchanges, std::size_t r) const;
  std::vector<Tensor> grads_of(std::span<const Partition> partitions) const;
  std::shared_ptr<Work> pass_host(Context c, std::span<const Partition> pushed) const;
  int server_of(const Partition& x) const { return servers_.rank_of(x.server); }
  Tensor room(std::size_t j, const Partition& x) const;
  Tensor pushed_by(std::size_t j, Context c, const Partition& x) const;
  void push(Context c, const Partition& x, std::vector<Transfer>& batch) const;
  void acknowledge(Context c, const Partition& x, std::vector<Transfer>& batch) const;
  void request(Context c, const Partition& x, std::vector<Transfer>& batch) const;
  void answer(Context c, const Partition& x, std::vector<Transfer>& batch) const;
  Tensor room_for_notices(Device& device, int own) const;
  void average(Context c, const Partition& x) const;

  Servers servers_;
  Workers workers_;
  Options options_;
  std::vector<Partition> partitions_;   // in the order of rounds
  std::vector<std::size_t> completes_;  // by bucket
  std::size_t own_;  // the rank's place among the workers; after them where it only serves
  // On servers: for what each worker pushes in a round, and, in the own place, for the sums.
  std::vector<Tensor> room_;
  // For as many acknowledgements and requests as a batch may have; nothing depends on their values.
  Tensor acknowledgements_, requests_;
};

}  // namespace trigram
