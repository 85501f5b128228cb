#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "experiments/config/experiment.h"
#include "experiments/run/job_timeline.h"
#include "experiments/run/neighbour_memory.h"
#include "experiments/run/run.h"
#include "netmodels/failures.h"

namespace trigram {

/// True if a run is simulated, and its workers crash or may be suspected, or its nodes leave or
/// join.
bool has_simulated_crashes(const Experiment& experiment);

/// The crashes of a simulated run and its changes of nodes, and what they cost.
struct CrashRecord {
  Json crashes = Json::array();
  /// False suspicions of workers, and the longest time that a heartbeat took; only with heartbeats.
  Json suspicions = Json::array();
  std::optional<double> longest_heartbeat_s;
  /// The generations of the job, one after another; there is one if nodes neither left nor joined.
  Json generations = Json::array();
  std::vector<Interruption> interruptions;
  double lost_s = 0, recovery_s = 0;
  double origin_s = 0;  // the time of the job at which the times of its summary begin
  void add(Interruption interruption);
  /// Adds the time that it took to bring back copies in memory after the last interruption.
  void add_recovery(double seconds);
  /// The object "failures" of a summary that covers `time_s`.
  Json to_json(double time_s) const;
};

/// Makes a simulated run whose workers crash and whose nodes leave and join. A process can make
/// only one simulation, so each part of the run until a crash or a change is made by a child
/// process, in which `make_part` runs: it makes the part on a number of nodes and returns an exit
/// code.
///
/// After a crash all workers begin again at the last checkpoint, once the crash is detected and the
/// job has restarted. They also do so when a worker is suspected falsely. A node that leaves or
/// joins is announced: the others go on until the next checkpoint, at most for a minute, and then
/// the job restarts with the other number of nodes, as `trigram launch` does. Returns the exit code
/// of the last part, or kRunFailed if training does not get further.
class FailingRun {
 public:
  struct Part {
    std::int64_t nodes;
    CheckpointPlace place;
    SimulatedSpan span;
  };
  using MakePart = std::function<int(const Part&)>;
  FailingRun(const Experiment& experiment, CheckpointPlace place);
  int run(const MakePart& make_part);
  const CrashRecord& record() const { return record_; }
  /// Why the run failed; empty if a part says so itself.
  const std::string& error() const { return error_; }

 private:
  struct Ended {
    enum Why { changed, crashed, suspected } why;
    double at_s, checkpoint_s;  // checkpoint_s: the work since then is lost
  };
  int run_part(const MakePart& make_part);
  void begin_generation(const std::optional<Interruption>& change);
  void plan_end();
  Ended end_of_part() const;
  double recover();
  double detection_s() const;
  int suspected_rank() const;
  void record_crash(Interruption& interruption);
  void record_suspicion(Interruption& interruption);
  std::optional<RestartPoint> latest() const;
  std::optional<long> latest_step() const;
  void lose_memory(double until_s);
  double reading_s() const;
  double checkpoint_s() const;

  const Experiment& e_;
  const std::vector<std::int64_t> counts_;  // node_counts
  const std::vector<Failure> changes_;      // node_changes
  FailureSequence sequence_;
  Failure crash_;              // the next one, or the last one
  Failure later_;              // the next one after it, if it has been drawn
  std::size_t changed_ = 0;    // number of changes so far
  const CheckpointPlace job_;  // of the first generation
  /// The checkpoints with which the present generation began, and the generation that wrote them.
  struct Earlier {
    std::filesystem::path folder;
    std::int64_t nodes;
    double origin_s;
  } earlier_ = {};
  Part part_;
  /// The nodes that have lost their memory in the last crash, and the checkpoint on storage with
  /// which the job had to go on because copies were lost.
  std::vector<std::int64_t> without_memory_;
  std::optional<long> lost_;
  double brought_back_s_ = 0;                  // in the present part
  std::optional<HeartbeatDetector> detector_;  // at the end of the present part
  std::optional<long> step_;                   // of the last checkpoint
  CrashRecord record_;
  std::string error_;
};

/// The exit code of a part that SimulationEnded ended.
inline constexpr int kCrashed = 75;

}  // namespace trigram
