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

/// The flows of collectives in progress.
///
/// While a flow shares no link, its end is known in advance, and SimGrid only has a timer for it.
/// When a message or another flow starts on one of its links, the remainder becomes a SimGrid flow,
/// which shares the links. If token buckets make the end unpredictable, the flow is a SimGrid flow
/// from the start.
class CoupledFlows {
 public:
  explicit CoupledFlows(World& world);

  struct Flow {
    const CoupledRounds& pattern;
    double bytes, start_s, alone_s;
    std::function<void(double)> on_end;
    bool alone = true;  // it has not shared a link yet
  };
  /// Starts a flow at `start_s`, which must not be after the current date. It moves `bytes` bytes
  /// along the route of each message. The collective takes `alone_s` seconds if the flow shares no
  /// link. At the end it calls `on_end` with the date of the end.
  std::shared_ptr<const Flow> start(const CoupledRounds& pattern, double bytes, double start_s,
                                    double alone_s, std::function<void(double)> on_end);
  /// Must be called at the start and at the end of every message, because messages may use the same
  /// links.
  void message_starts(int source, int destination);
  void message_ends(int source, int destination);

  /// The number of times that a flow and other traffic came to share a link.
  std::uint64_t shared_count() const { return shared_count_; }

 private:
  void share(std::span<const LinkId> links);
  void end(const std::shared_ptr<Flow>& flow, double date_s);
  void simulate(const std::shared_ptr<Flow>& flow);
  const std::vector<LinkId>& links_of(int source, int destination);
  bool busy(LinkId link) const;

  World& world_;
  const bool foreseeable_;
  std::vector<std::shared_ptr<Flow>> flows_;
  std::vector<int> flowing_, sending_;  // number of flows and of messages, by link
  std::vector<LinkId> links_;           // scratch
  std::uint64_t shared_count_ = 0;
};

}  // namespace trigram::sim
