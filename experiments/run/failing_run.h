#pragma once

#include <functional>
#include <string>

#include "core/json.h"
#include "experiments/config/experiment.h"
#include "experiments/run/run.h"

namespace trigram {

/// True if a run is simulated and its workers crash.
bool has_simulated_crashes(const Experiment& experiment);

/// The crashes of a simulated run, and what they cost.
struct CrashRecord {
  Json crashes = Json::array();
  double lost_s = 0, recovery_s = 0;
  /// The object "failures" of a summary whose run took `time_s`.
  Json to_json(double time_s) const;
};

/// Makes a simulated run whose workers crash. A process can make only one simulation, so each part
/// of the run between two crashes is made by a child process, in which `make_part` runs: it makes
/// the part and returns an exit code. After a crash all workers begin again at the last checkpoint,
/// once the crash is detected and the job has restarted. Returns the exit code of the last part, or
/// kRunFailed if training does not get further.
class FailingRun {
 public:
  using MakePart = std::function<int(const CheckpointPlace&, const SimulatedSpan&)>;
  FailingRun(const Experiment& experiment, CheckpointPlace place);
  int run(const MakePart& make_part);
  const CrashRecord& record() const { return record_; }
  /// Why the run failed; empty if a part says so itself.
  const std::string& error() const { return error_; }

 private:
  double checkpoint_s(double part_began_s) const;

  const Experiment& e_;
  CheckpointPlace place_;
  CrashRecord record_;
  std::string error_;
};

/// The exit code of a part that SimulationEnded ended.
inline constexpr int kCrashed = 75;

}  // namespace trigram
