#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/communicator.h"
#include "netmodels/coupled_rounds.h"
#include "runtime/sim/world.h"

namespace trigram::sim {

/// The flows of collectives that are under way.
///
/// While a flow has its links for itself, its end is known, and SimGrid hears of nothing but that
/// date. When a message or another flow comes to pass one of its links, what is left of it becomes
/// a flow of SimGrid's, which shares. Where its end is not known at all, because of token buckets,
/// it is one from the start.
class CoupledFlows {
 public:
  explicit CoupledFlows(World& world);

  struct Flow {
    const CoupledRounds& pattern;
    double bytes, start_s, alone_s;
    std::function<void(double)> then;
    bool alone = true;  // it has had its links for itself so far
  };
  /// Starts now, which is `start_s`: `bytes` along the way of each message, as part of what takes
  /// `alone_s` where nothing else passes its links. Calls `then` at the end, with its date.
  std::shared_ptr<const Flow> start(const CoupledRounds& pattern, double bytes, double start_s,
                                    double alone_s, std::function<void(double)> then);
  /// Told of messages, which may pass the same links.
  void message_starts(int source, int destination);
  void message_ends(int source, int destination);

  /// How often a flow and something else came to pass the same link.
  std::uint64_t meetings() const { return meetings_; }

 private:
  void meet(std::span<const LinkId> links);
  void end(const std::shared_ptr<Flow>& flow, double date_s);
  void simulate(const std::shared_ptr<Flow>& flow);
  const std::vector<LinkId>& links_of(int source, int destination);
  bool busy(LinkId link) const;

  World& world_;
  const bool foreseeable_;
  std::vector<std::shared_ptr<Flow>> flows_;
  std::vector<int> flowing_, sending_;  // flows and messages, by link
  std::vector<LinkId> links_;           // scratch
  std::uint64_t meetings_ = 0;
};

}  // namespace trigram::sim
