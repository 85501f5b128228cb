#pragma once

#include <span>

#include "core/collective_pricer.h"

namespace trigram {

/// A communicator of some members of `parent`. It only translates ranks, so creating it exchanges
/// no messages and is not a collective operation. Groups and the levels of a hierarchy are subsets.
/// `members` (parent ranks, in the order of the new ranks) must outlive the subset and contain the
/// calling rank. Messages of class TrafficClass::collective within the subset have the class
/// `collective` in the parent.
class Subset final : public Communicator {
 public:
  Subset(Communicator& parent, std::span<const int> members,
         TrafficClass collective = TrafficClass::collective);
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void transfer(std::span<const Transfer> batch) override;
  /// Uses the parent's native collective if the subset holds all of its ranks in the same order;
  /// else returns false.
  bool native(const Collective& collective) override;
  std::int64_t buffered(std::size_t nbytes) const override { return parent_.buffered(nbytes); }
  CollectivePricer* pricer() override { return pricer_.exists() ? &pricer_ : nullptr; }

 private:
  /// Translates the pattern to the parent's ranks and calls the parent's pricer.
  class Pricer final : public CollectivePricer {
   public:
    explicit Pricer(const Subset& subset) : subset_(subset), parent_(subset.parent_.pricer()) {}
    bool exists() const { return parent_ != nullptr; }
    void price(const CollectivePattern& pattern, const Messages& messages) override;

   private:
    const Subset& subset_;
    CollectivePricer* parent_;
  };
  TrafficClass in_parent(TrafficClass traffic) const {
    return traffic == TrafficClass::collective ? collective_ : traffic;
  }
  int in_parent(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  Communicator& parent_;
  std::span<const int> members_;
  TrafficClass collective_;
  int rank_;
  Pricer pricer_{*this};
};

}  // namespace trigram
