#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/metering/meter.h"

namespace trigram {

/// The messages of a simulated run that have arrived, indexed by the sender's rank. The meters of
/// all ranks add to it, so all ranks must share one thread.
class ArrivedTraffic {
 public:
  /// Messages from one rank to another.
  struct Messages {
    int from, to;
    MessageCount count;
  };

  explicit ArrivedTraffic(std::size_t ranks) : arrived_(ranks) {}

  /// Counts messages that arrive now.
  void add(const Messages& part) { arrived_[static_cast<std::size_t>(part.from)].add(part.count); }
  /// Reports that `rank` ends a collective at `end_s`, and which messages it sends there. The
  /// collective is simulated as a whole, so a message arrives when its receiver ends the
  /// collective. The ends may be known long before simulated time reaches them. `id` is the same
  /// for all `members` ranks of the collective, and for no other collective.
  void add(std::uint64_t id, std::size_t members, int rank, double end_s,
           std::span<const Messages> sent);
  /// All traffic that has arrived by `now_s`, which must not decrease from call to call.
  std::span<const Counters> arrived_by(double now_s);
  /// Starts from the traffic that had arrived, for each rank, in the run that this run continues.
  void count_on_from(std::span<const Counters> arrived) {
    arrived_.assign(arrived.begin(), arrived.end());
  }

 private:
  struct Collective {
    std::vector<std::pair<int, double>> ends_s;  // by rank
    std::vector<Messages> sent;
  };
  struct InFlight {
    Messages part;
    double arrival_s;
  };
  std::vector<Counters> arrived_;
  std::unordered_map<std::uint64_t, Collective> incomplete_;  // some ranks have not reported yet
  std::vector<InFlight> in_flight_;
};

}  // namespace trigram
