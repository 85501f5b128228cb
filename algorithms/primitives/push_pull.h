#pragma once

#include <span>
#include <vector>

#include "algorithms/execution/execution.h"
#include "algorithms/primitives/assignment.h"
#include "algorithms/primitives/partitions.h"
#include "core/workload.h"

namespace trigram {

/// How the gradients of one iteration go to the servers and come back as their mean, in place.
///
/// Partitions, their servers and the rounds in which they travel are those of `assign`. They follow
/// from the buckets alone, so they are the same on all ranks. Exchange r pushes round r and pulls
/// round r-1 in one batch, so servers receive and send at once. All ranks call the exchanges
/// 0 .. exchanges()-1 in this order, also those that only serve: they push and pull nothing, and
/// have means of their own partitions alone.
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
  };
  PushPull(Context ctx, std::span<Bucket> buckets, const Servers& servers, const Options& options);

  std::size_t exchanges() const { return rounds() + 1; }
  /// The bucket with which all that exchange r pushes is complete.
  int needs(std::size_t r) const;
  /// The exchange with which all of a bucket is back.
  std::size_t completes(int bucket) const;
  /// The buckets in the order in which they are back.
  std::vector<int> order() const;
  /// Means are sums in the order of the workers' ranks, divided once.
  void exchange(Context c, std::size_t r) const;

 private:
  std::size_t rounds() const { return partitions_.back().round + 1; }
  bool works() const { return own_ < workers_.ranks.size(); }
  void exchange_among_servers(Context c, std::size_t r) const;
  std::span<const Partition> of_round(std::size_t r) const;
  std::vector<Tensor> grads_of_round(std::size_t r) const;
  std::shared_ptr<Work> pass_host(Context c, std::size_t r) const;
  int server_of(const Partition& x) const { return servers_.rank_of(x.server); }
  Tensor room(std::size_t j, const Partition& x) const;
  Tensor pushed_by(std::size_t j, Context c, const Partition& x) const;
  void push(Context c, const Partition& x, std::vector<Transfer>& batch) const;
  void pull(Context c, const Partition& x, std::vector<Transfer>& batch) const;
  void average(Context c, const Partition& x) const;

  Servers servers_;
  Workers workers_;
  Options options_;
  std::vector<Partition> partitions_;   // in the order of rounds
  std::vector<std::size_t> completes_;  // by bucket
  std::size_t own_;  // the rank's place among the workers; after them where it only serves
  // On servers: for what each worker pushes in a round, and, in the own place, for the sums.
  std::vector<Tensor> room_;
};

}  // namespace trigram
