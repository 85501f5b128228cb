#pragma once

#include <cstdint>
#include <span>

#include "core/tensor.h"

namespace trigram {

class CollectivePricer;

enum class Reduce { sum, avg, max };

/// The traffic that a message is part of. Only time depends on it: networks carry some patterns of
/// traffic better than others.
enum class TrafficClass {
  collective,      // rings, trees, halving: few peers, one after the other
  leaders,         // the same among one worker of each node, as of a hierarchy
  all_to_all,      // every rank to every other
  point_to_point,  // between peers of a graph, pairs
  server,          // from workers to servers, and between both where they take turns
  answer,          // from servers to workers that go on sending to them
};

/// Whether it is the traffic of rings and trees.
constexpr bool is_collective(TrafficClass traffic) {
  return traffic == TrafficClass::collective || traffic == TrafficClass::leaders;
}

/// One half of a message. First-in-first-out per (stream, source, destination), answers by
/// themselves: a rank that is a server and a worker has connections for each. No tags.
struct Transfer {
  enum Kind { send, recv } kind;
  Tensor tensor;
  int peer;
  TrafficClass traffic = TrafficClass::collective;
};

/// An operation of all ranks of a communicator together, in place on `x` as
/// algorithms/collectives/collectives.h has it: after reduce_scatter rank r has the reduction of
/// part(r, P) there and the rest of x is scratch, for allgather it brings that part. all_to_all
/// takes part(j, P) of x to rank j and leaves what rank i sent in part(i, P) of y.
struct Collective {
  enum Kind { allreduce, reduce_scatter, allgather, broadcast, all_to_all } kind;
  Tensor x;
  Reduce op = Reduce::sum;  // allreduce, reduce_scatter; avg is finished
  int root = 0;             // broadcast
  Tensor y = {};            // all_to_all: as long as x
};

/// The data plane: moves tensors between the ranks of one stream (same-named streams talk to each
/// other). `transfer` is all that a runtime must implement.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Starts the whole batch at once and returns when every transfer is over, as the owning stream
  /// sees it: a receive when its data is here, a send when the transport has taken it, which may be
  /// long before it arrives. Then the memory of both may be used again; a world that has not copied
  /// what it sends keeps the call until it has. What is sent is what the tensor holds at the call.
  /// Batches are matched: the two halves of a message lie in corresponding batches of both sides,
  /// with equal sizes (checked on receipt). A batch may hold a send and a receive with the same
  /// peer.
  virtual void transfer(std::span<const Transfer> batch) = 0;
  /// Messages of `nbytes` that a rank can send to another before that one receives the first of
  /// them, without waiting. 0 where a send may have to wait for its receive; all ranks agree.
  virtual std::int64_t buffered(std::size_t /*nbytes*/) const { return 0; }
  /// Makes a collective by the world's own means: MPI's, NCCL's. False, with nothing done and on
  /// all ranks alike, where the world has none for such operands; then it is to be made of
  /// transfers. All ranks call it with the same operands, which it cannot check. Sums are formed in
  /// an order of the library's choice.
  virtual bool native(const Collective&) { return false; }
  /// Who prices collectives as a whole, where the world's time is modelled and it may do so; null
  /// where collectives are made of transfers alone.
  virtual CollectivePricer* pricer() { return nullptr; }
};

}  // namespace trigram
