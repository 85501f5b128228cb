#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/collective_pricer.h"
#include "core/communicator.h"
#include "core/metering/metered_rank.h"

namespace trigram {

/// Counts the messages that a rank sends on one stream, and times them by that stream's clock.
class alignas(64) MeteredCommunicator final : public Communicator {
 public:
  /// `label` is the label of the stream's events; it must outlive the communicator.
  MeteredCommunicator(Communicator& raw, Stream& clock, MeteredRank& rank, StreamTally& tally,
                      const StepLabel& label)
      : raw_(raw), clock_(clock), rank_(rank), tally_(tally), label_(label) {}
  int rank() const override { return raw_.rank(); }
  int size() const override { return raw_.size(); }
  void transfer(std::span<const Transfer> batch) override;
  /// Counts `nominal_messages`, because the messages that the library sends are hidden.
  bool native(const Collective& collective) override;
  std::int64_t buffered(std::size_t nbytes) const override { return raw_.buffered(nbytes); }
  CollectivePricer* pricer() override { return raw_.pricer() ? &pricer_ : nullptr; }

 private:
  /// Reports a collective that is priced as a whole as a single transfer.
  class Pricer final : public CollectivePricer {
   public:
    explicit Pricer(MeteredCommunicator& metered) : metered_(metered) {}
    void price(const CollectivePattern& pattern, const Messages& messages) override;

   private:
    MeteredCommunicator& metered_;
  };
  void count(int peer, std::uint64_t bytes);
  std::vector<Event> events_of(std::span<const Transfer> batch);
  Event next_event() const;
  std::function<void(double, double)> reporter(std::vector<Event> events, bool transferred = true);
  std::uint64_t collective_id(std::span<const int> members);
  std::function<void(double, double)> priced_reporter(const CollectivePattern& pattern);

  Communicator& raw_;
  Stream& clock_;
  MeteredRank& rank_;
  StreamTally& tally_;
  const StepLabel& label_;
  bool inside_priced_ = false;  // inside a collective that is priced as a whole
  std::uint64_t batches_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> priced_;  // number of collectives by group
  Pricer pricer_{*this};
};

/// Calls `sent(peer, bytes)` for each message that `rank` would send if the collective ran as a
/// simple algorithm that moves the fewest bytes. A native collective hides its messages, so these
/// are counted instead. In the table, P is the number of ranks, n is the size of x in priced bytes,
/// and the last column is the number of bytes that each rank sends:
///
///   reduce_scatter, allgather   P-1 parts of x to rank + 1 around the ring       (P-1)/P n
///   allreduce                   a reduce_scatter, then an allgather              2(P-1)/P n
///   broadcast                   x to rank + 1, except from the rank before root  n
///   all_to_all                  one part of x to each other rank                 (P-1)/P n
void nominal_messages(const Collective& collective, int rank, int size,
                      const std::function<void(int peer, std::uint64_t bytes)>& sent);

}  // namespace trigram
