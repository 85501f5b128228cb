#pragma once

#include <span>

#include "core/tensor.h"

namespace trigram {

enum class Reduce { sum, avg, max };

/// One half of a message. First-in-first-out per (stream, source, destination); no tags.
struct Transfer {
  enum Kind { send, recv } kind;
  Tensor tensor;
  int peer;
};

/// The data plane: moves tensors between the ranks of one stream (same-named streams talk to each
/// other). `transfer` is all that a runtime must implement.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Starts the whole batch at once and returns when every transfer is ordered on the owning
  /// stream. Batches are matched: the two halves of a message lie in corresponding batches of both
  /// sides, with equal sizes (checked on receipt). A batch may hold a send and a receive with the
  /// same peer; what is sent is what the tensor holds at the call.
  virtual void transfer(std::span<const Transfer> batch) = 0;
};

/// The members of `parent` as a communicator of their own: ranks are translated, nothing is
/// exchanged and nothing is collective. Groups, and the levels of a hierarchy, are made of it.
/// `members` (parent ranks, in the order of the new ranks) must outlive the subset and hold the
/// calling rank.
class Subset final : public Communicator {
 public:
  Subset(Communicator& parent, std::span<const int> members);
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void transfer(std::span<const Transfer> batch) override;

 private:
  Communicator& parent_;
  std::span<const int> members_;
  int rank_;
};

}  // namespace trigram
