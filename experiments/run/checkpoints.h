#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/metering/arrived_traffic.h"
#include "core/workloads/wrapped_workload.h"
#include "experiments/checkpoint/checkpoint_folder.h"
#include "experiments/checkpoint/other_size.h"
#include "experiments/config/experiment.h"
#include "experiments/run/step_record.h"
#include "experiments/run/timeline.h"

namespace trigram {

/// Where the checkpoints of a run are, and whether it continues from the latest one of them, or
/// from the latest one in the folder `from` of another run.
struct CheckpointPlace {
  std::filesystem::path folder = {};
  bool resume = false;
  std::filesystem::path from = {};
  /// If it continues from copies in memory: the nodes that have lost theirs.
  std::vector<std::int64_t> without_memory = {};
};

/// The checkpoints of a run, as the ranks of a process share them. The process of rank 0 decides
/// where the run continues, and keeps the records of all steps.
class Checkpoints {
 public:
  /// A run that continues does so from the latest checkpoint whose files are what was written; if
  /// there is none, it begins anew. `decides` is true in the process of rank 0.
  Checkpoints(const Experiment& experiment, const CheckpointPlace& place, bool decides);

  /// The state with which a rank continues after `resumed_step`.
  SavedState state_of(int rank);
  /// False if the checkpoint is that of a run with another number of ranks.
  bool same_size() const { return !reformed_; }

  /// The records of the steps before the checkpoint, in order; returns them once.
  std::vector<StepRecord> take_earlier_records();
  /// The "checkpoint" of a summary: the step and the size of the last one, and where the run has
  /// been continued.
  Json to_json() const;

  const Experiment& experiment;
  const CheckpointFolder folder;
  std::optional<long> resumed_step;  // number of steps before the run continues; empty: it begins
  std::vector<StepRecord> records;   // of the steps so far; only in the process of rank 0
  /// Every continuation of the run so far: its step, and the seconds from the checkpoint until
  /// then.
  Json resumed = Json::array();
  /// Warnings: checkpoints that were passed over because they are damaged, and what becomes of the
  /// state of a run with another number of ranks.
  std::vector<std::string> notes;
  Json last;  // the latest checkpoint that was written: "step", "rank_bytes" and "write_s"
  /// The latest copy in the memory of other nodes: "step", "rank_bytes" and "copy_s".
  Json copied;
  const CheckpointFolder memory;  // where the simulator keeps what is in memory
  const std::vector<std::int64_t> without_memory;
  std::vector<double> rank_bytes;  // by rank; only if there are copies

 private:
  void continue_from(long step);
  void reform_from(long step);

  const CheckpointFolder source_;  // of the checkpoint from which the run continues
  std::optional<ReformedState> reformed_;
  std::vector<StepRecord> earlier_;
};

/// A workload that counts its mini-batches and knows the sizes of its buckets.
class CountedWorkload final : public WrappedWorkload {
 public:
  explicit CountedWorkload(std::unique_ptr<Workload> workload)
      : WrappedWorkload(std::move(workload)) {}
  void forward(Context ctx) override {
    ++batches;
    WrappedWorkload::forward(ctx);
  }
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override {
    ++batches;
    WrappedWorkload::forward_by_bucket(ctx, before);
  }
  void skip(long count) override {
    batches += count;
    WrappedWorkload::skip(count);
  }
  void bucketize(const BucketSizes& wanted) override {
    sizes = wanted;
    WrappedWorkload::bucketize(wanted);
  }

  long batches = 0;
  BucketSizes sizes = 0;
};
/// Wraps a workload; sets `counted` to the result.
std::unique_ptr<Workload> counted_workload(std::unique_ptr<Workload> workload,
                                           CountedWorkload*& counted);

/// Writes and restores the state of one rank.
class RankCheckpoints {
 public:
  struct Rank {
    const Context& raw;  // whose device takes no simulated time
    Meter& meter;
    CountedWorkload& counted;
    Workload& workload;
    Optimizer& optimizer;
    TrainingState state;  // the algorithm's
  };
  struct Records {
    std::function<void(StateVisitor&)> visit;  // the state of what measures the steps
    std::function<void()> report;  // sends the steps so far to rank 0; collective over processes
    Timeline& timeline;
    ArrivedTraffic* arrived;  // null in real time
  };
  RankCheckpoints(const Rank& rank, Checkpoints& shared, Records records)
      : rank_(rank), shared_(shared), records_(std::move(records)) {}

  /// The step at which the part of the run ends that begins at `step`.
  long next_after(long step) const;
  /// Writes a checkpoint after `step` steps. Collective. The ranks wait for each other before, and
  /// until all files are written. Returns the time in the checkpoint, on this rank's clock.
  double save(long step);
  /// If the run continues another one, restores the state of this rank, and waits in simulated time
  /// until the time of the checkpoint. Returns the time since then on the rank's clock, which is 0
  /// in simulated time, or nothing if the run begins. A run that continues one of another number of
  /// ranks has times of its own, and gets infinity. Collective.
  std::optional<double> restore();
  /// If the run continues from copies in memory, brings back those of the nodes that have lost
  /// theirs. Returns the time that it takes. Collective.
  double bring_back_copies();

 private:
  void visit_weights(StateVisitor& visitor);
  void restore_training(const SavedState& state);
  void agree_on_step();
  void copy(double bytes);
  SavedState saved(const Counters& counters, double now_s);

  Rank rank_;
  Checkpoints& shared_;
  Records records_;
};

}  // namespace trigram
