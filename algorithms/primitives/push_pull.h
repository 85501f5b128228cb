#pragma once

#include <span>
#include <vector>

#include "algorithms/collectives/exchange.h"
#include "algorithms/execution/execution.h"
#include "algorithms/primitives/partitions.h"
#include "core/workload.h"

namespace trigram {

/// How the gradients of one iteration go to the servers and come back as their mean, in place.
///
/// Partitions are numbered in the order in which backward completes them (ready), but for the last
/// of them, which are numbered in the order in which the next forward pass needs them: those of the
/// last bucket first. The order follows from the buckets alone, so it is the same on all ranks.
/// Server s has the partitions of number s modulo k. k partitions in a row, one per server, are a
/// round. Exchange r pushes round r and pulls round r-1 in one batch, so servers receive and send
/// at once. All ranks call the exchanges 0 .. exchanges()-1 in this order, also those that only
/// serve: they push and pull nothing, and have means of their own partitions alone.
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
    /// The share of the partitions, from 0 to 1 and rounded up, that are numbered in the order in
    /// which they are ready.
    double early = 1;
    Execution execution = {};
    Stream* host = nullptr;  // of the rank, for what passes its host; null: nothing does
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
  struct Partition {
    int bucket;
    Tensor grad;
  };
  std::size_t rounds() const { return (partitions_.size() - 1) / servers_.count() + 1; }
  bool works() const { return own_ < workers_.ranks.size(); }
  void exchange_among_servers(Context c, std::size_t r) const;
  std::vector<Tensor> of_round(std::size_t r) const;
  std::shared_ptr<Work> pass_host(Context c, std::size_t r) const;
  template <class F>
  void for_each(std::size_t round, F f) const;
  Tensor pushed_by(std::size_t j, Context c, const Tensor& x) const;
  void push(Context c, const Tensor& x, int server, std::vector<Transfer>& batch) const;
  void pull(Context c, const Tensor& x, int server, std::vector<Transfer>& batch) const;
  void average(Context c, const Tensor& x) const;

  Servers servers_;
  Workers workers_;
  Options options_;
  std::vector<Partition> partitions_;
  std::size_t own_;  // the rank's place among the workers; after them where it only serves
  // On servers: for what each worker pushes, and, in the own place, for the sum.
  std::vector<Scratch> room_;
};

}  // namespace trigram
