#pragma once

#include <functional>
#include <memory>

#include "core/context.h"
#include "core/runtime.h"
#include "experiments/config/experiment.h"
#include "netmodels/heartbeats.h"

namespace trigram {

/// The heartbeats of a simulated run, as all ranks share them.
struct HeartbeatRun {
  HeartbeatDetector& detector;
  /// The date at which a heartbeat arrives that `rank` sends now.
  std::function<double(int rank)> arrival_s;
  /// Called with the date at which a worker will be falsely suspected, or is suspected now.
  std::function<void(double date_s)> suspected;
};

/// The heartbeats of a run in `runtime`. If workers do not carry on without each other, a suspicion
/// ends the launch, since all of them restart. The arguments must outlive the result.
HeartbeatRun heartbeat_run(const Experiment& experiment, Runtime& runtime,
                           HeartbeatDetector& detector);

/// Sends the heartbeats of one rank, on a stream of its own, until it is destroyed. A frozen worker
/// sends none.
class HeartbeatSender {
 public:
  /// Collective, on the main stream. The first heartbeat is sent at `begin_s` or now, whichever is
  /// later. `run` must outlive the world. `is_there`: the worker is there from the beginning.
  HeartbeatSender(const Context& raw, const Experiment& experiment, HeartbeatRun& run,
                  double begin_s, bool is_there);
  ~HeartbeatSender() { *ended_ = true; }
  HeartbeatSender(const HeartbeatSender&) = delete;
  HeartbeatSender& operator=(const HeartbeatSender&) = delete;

 private:
  const std::unique_ptr<Stream> stream_;
  const std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
};

}  // namespace trigram
