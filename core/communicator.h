#pragma once

#include <cstdint>
#include <span>

#include "core/tensor.h"

namespace trigram {

class CollectivePricer;

enum class Reduce { sum, avg, max };

/// The kind of traffic that a message belongs to. It affects only time: networks carry some traffic
/// patterns better than others.
enum class TrafficClass {
  collective,      // rings, trees, recursive halving: few peers, one after the other
  leaders,         // collectives between node leaders, as part of a hierarchical collective
  all_to_all,      // every rank to every other rank
  point_to_point,  // between peers of a graph, or pairs
  server,          // from workers to servers; also the answers, if workers wait for them
  answer,          // from servers to workers that keep sending meanwhile
};

/// True for ring and tree traffic.
constexpr bool is_collective(TrafficClass traffic) {
  return traffic == TrafficClass::collective || traffic == TrafficClass::leaders;
}

/// One half of a message: a send or a receive. Messages are first-in-first-out per (stream, source,
/// destination). Messages have no tags, but traffic of the class `answer` has its own queue, so
/// that a rank that is both a server and a worker has one connection for each role.
struct Transfer {
  enum Kind { send, recv } kind;
  Tensor tensor;
  int peer;
  TrafficClass traffic = TrafficClass::collective;
};

/// A collective operation of all ranks of a communicator, in place on `x`, with the conventions of
/// algorithms/collectives/collectives.h. After reduce_scatter, part(r, P) of rank r's x holds the
/// reduced values and the rest of x is scratch; for allgather, rank r provides part(r, P).
/// all_to_all sends part(j, P) of x to rank j and stores the part from rank i in part(i, P) of y.
struct Collective {
  enum Kind { allreduce, reduce_scatter, allgather, broadcast, all_to_all } kind;
  Tensor x;
  Reduce op = Reduce::sum;  // allreduce, reduce_scatter; avg includes the division
  int root = 0;             // broadcast only
  Tensor y = {};            // all_to_all only: the output, as long as x
};

/// The data plane: moves tensors between the ranks of one stream (streams of the same name talk to
/// each other). `transfer` is all that a runtime must implement.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Starts the whole batch at once and returns when every transfer is complete from the point of
  /// view of the owning stream. A receive is complete when its data has arrived; a send is complete
  /// when the transport has taken the data, possibly long before the data has arrived. The caller
  /// may then reuse the memory of both: a world that does not copy sent data returns only when it
  /// no longer needs the memory. A send carries the values that the tensor has at the time of the
  /// call. Batches must match: the two halves of a message are in corresponding batches of both
  /// ranks and have equal sizes (checked on receipt). A batch may hold a send and a receive with
  /// the same peer.
  virtual void transfer(std::span<const Transfer> batch) = 0;
  /// The number of messages of `nbytes` bytes that a rank can send to another rank, without
  /// blocking, before that rank receives the first of them; 0 if a send may have to wait for its
  /// receive. The number is the same on all ranks.
  virtual std::int64_t buffered(std::size_t /*nbytes*/) const { return 0; }
  /// Runs the collective with the world's own library (MPI, NCCL). If the library does not support
  /// these operands, all ranks return false without having done anything, and the caller builds the
  /// collective from transfers. All ranks must pass the same operands, which is not checked. The
  /// library chooses the order of summation.
  virtual bool native(const Collective&) { return false; }
  /// The pricer that models collectives as a whole; null in real time and in worlds whose
  /// collectives consist of transfers alone.
  virtual CollectivePricer* pricer() { return nullptr; }
};

}  // namespace trigram
