#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "core/cost.h"
#include "core/tensor.h"

namespace trigram {

enum class Reduce { sum, avg, max };

/// What traffic a message is part of. Nothing depends on it but what worlds take time for: networks
/// carry some patterns better than others.
enum class Pattern {
  collective,      // rings, trees, halving: few peers, one after the other
  leaders,         // the same among one worker of each node, as of a hierarchy
  all_to_all,      // every rank to every other
  point_to_point,  // between peers of a graph, pairs
  server,          // from workers to servers, and between both where they take turns
  answer,          // from servers to workers that go on sending to them
};

/// Whether it is of rings and trees.
constexpr bool is_collective(Pattern pattern) {
  return pattern == Pattern::collective || pattern == Pattern::leaders;
}

/// One half of a message. First-in-first-out per (stream, source, destination), answers by
/// themselves: a rank that is a server and a worker has connections for each. No tags.
struct Transfer {
  enum Kind { send, recv } kind;
  Tensor tensor;
  int peer;
  Pattern pattern = Pattern::collective;
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

/// The messages of a collective, as one rank sees them: rounds in each of which a rank sends at
/// most one message and receives at most one, and then computes; or a single round in which any
/// rank sends to any others (Valiant's h-relation). Data alone orders the rounds of different
/// ranks: a rank sends in round j what it has received in round j - 1, whatever others have come
/// to.
struct Rounds {
  enum Pattern {
    ring,        // in every round rank r sends to r + 1, the last to the first
    chain,       // the same, around from some rank, but the last of them sends to nobody
    h_relation,  // in one round rank r sends all that `sent` says at once
  } pattern = ring;
  /// Rounds after each of which this rank computes for `each` at most, and at their end for
  /// `after`. A chain has one for each of its pieces.
  struct Phase {
    int rounds = 0;
    Cost each = {}, after = {};
  };
  std::array<Phase, 2> phases = {};
  /// Priced bytes of the parts that go around a ring, of which the member at place p of P sends
  /// part (p + first_part - j) mod P in round j; or of the pieces of a chain, in order.
  std::function<std::size_t(std::size_t part)> part_nbytes = {};
  int first_part = 0;
  /// What this rank sends in all, and to whom; one entry for each message of an h-relation.
  struct Sent {
    int to;
    std::uint64_t messages, bytes;
    bool answers = false;  // on the connection of Pattern::answer
  };
  std::span<const Sent> sent = {};
  /// What traffic its messages are.
  trigram::Pattern traffic = trigram::Pattern::collective;
  /// The messages carry values: they have to be made.
  bool valued = false;
  /// Who takes part, as ranks of the communicator; empty for all of them.
  std::span<const int> members = {};
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
  /// Makes a collective by calling `messages`, whose transfers are as `rounds` says. A world whose
  /// time is modelled may price it as a whole: then the transfers within take no time, and without
  /// values they are not even made. All members call it with the same pattern and the same numbers
  /// of rounds.
  virtual void coupled(const Rounds&, const std::function<void()>& messages) { messages(); }
  /// Whether the world may do so: where not, `coupled` need not be called.
  virtual bool couples() const { return false; }
  /// Whether what is called now is part of a collective that is priced as a whole.
  virtual bool untimed() const { return false; }
};

/// The members of `parent` as a communicator of their own: ranks are translated, nothing is
/// exchanged and nothing is collective. Groups, and the levels of a hierarchy, are made of it.
/// `members` (parent ranks, in the order of the new ranks) must outlive the subset and hold the
/// calling rank. What is collective traffic among them is `collective` traffic of the parent's.
class Subset final : public Communicator {
 public:
  Subset(Communicator& parent, std::span<const int> members,
         Pattern collective = Pattern::collective);
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void transfer(std::span<const Transfer> batch) override;
  /// The parent's, for a subset of all its ranks in their order; none otherwise.
  bool native(const Collective& collective) override;
  void coupled(const Rounds& rounds, const std::function<void()>& messages) override;
  std::int64_t buffered(std::size_t nbytes) const override { return parent_.buffered(nbytes); }
  bool couples() const override { return parent_.couples(); }
  bool untimed() const override { return parent_.untimed(); }

 private:
  Communicator& parent_;
  std::span<const int> members_;
  Pattern collective_;
  int rank_;
};

}  // namespace trigram
