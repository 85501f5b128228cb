#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/metering/metered_rank.h"

namespace trigram {

/// Counts what a rank sends on one stream, timed by that stream's clock.
class MeteredCommunicator final : public Communicator {
 public:
  MeteredCommunicator(Communicator& raw, Stream& clock, MeteredRank& rank, StreamTally& tally)
      : raw_(raw), clock_(clock), rank_(rank), tally_(tally) {}
  int rank() const override { return raw_.rank(); }
  int size() const override { return raw_.size(); }
  void transfer(std::span<const Transfer> batch) override;
  /// Counted as if made of messages, whatever the library does: `ring_messages`.
  bool native(const Collective& collective) override;
  std::int64_t buffered(std::size_t nbytes) const override { return raw_.buffered(nbytes); }
  bool couples() const override { return raw_.couples(); }
  /// Reported, if priced as a whole, as one transfer.
  void coupled(const Rounds& rounds, const std::function<void()>& messages) override;

 private:
  void count(int peer, std::uint64_t bytes);
  std::vector<Event> events_of(std::span<const Transfer> batch);
  Event event_of(const Rounds& rounds) const;
  std::function<void(double, double)> reporter(std::vector<Event> events, bool transferred = true);
  std::function<void(double, double)> reporter_of_whole(const Rounds& rounds);

  Communicator& raw_;
  Stream& clock_;
  MeteredRank& rank_;
  StreamTally& tally_;
  std::uint64_t batches_ = 0;
  bool inside_ = false;  // a collective that is priced as a whole
};

}  // namespace trigram
