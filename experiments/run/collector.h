#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "core/metering/arrived_traffic.h"
#include "experiments/run/step_record.h"

namespace trigram {

class StoppingRule;

/// The behaviour of ranks while a model is evaluated.
enum class EvaluationPause {
  /// In simulated time: ranks need not wait, because the clock does not advance.
  none,
  /// In real time, for asynchronous algorithms: ranks that end a step meanwhile wait.
  gate,
  /// In real time, for synchronous algorithms: all ranks end the step and then wait.
  rendezvous
};

/// Gathers the reports of a process's ranks at the end of each step. The last rank that ends a step
/// combines the reports into a record, evaluates the models if the step is evaluated, and passes
/// the record to the sink. Records come in the order of steps, and only for steps that count.
///
/// Ranks may be threads or the actors of a simulation. An actor must not block on an OS primitive
/// that another actor holds. It always finds the mutex free, because SimGrid never switches actors
/// inside this class.
class Collector {
 public:
  struct Options {
    int ranks = 1;
    int trainers = 0;                   // number of ranks that train; 0: all
    ArrivedTraffic* arrived = nullptr;  // of a simulated run; else null
    long steps = 1;
    long eval_every = 0;  // 0: only after the last step
    bool evaluates = true;
    /// True if ranks wait for each other. If they do not, an evaluation takes place at the time at
    /// which the last rank ends a step. It then uses the model that each rank has at that time, and
    /// counts the work that each rank has done by then.
    bool waits = true;
    EvaluationPause pause = EvaluationPause::none;
    StoppingRule* stopping = nullptr;  // gets all steps that count; null: all steps are made
  };
  using Sink = std::function<void(const StepRecord&)>;
  Collector(Options options, Sink sink)
      : options_(options),
        sink_(std::move(sink)),
        ended_(options.waits ? 0 : static_cast<std::size_t>(options.ranks)) {}

  /// True if the models are evaluated after `step`.
  bool is_evaluated(long step) const;

  /// Call when rank `rank` has ended `step`. `weights` are its weights if the step is evaluated;
  /// `workload` runs the evaluation. Returns the part of the duration of this call, in seconds of
  /// `stream`'s clock, that does not count as training time. Passes on exceptions of the
  /// evaluation.
  double finish(int rank, long step, const RankStep& done, std::span<const float> weights,
                Workload& workload, const Stream& stream);

  /// The same, with the weights of `workload`.
  double finish(int rank, long step, const RankStep& done, Workload& workload,
                const Stream& stream);

  /// Takes a record of the run that this one continues, which has been made before. In the order of
  /// steps, and before any rank ends a step.
  void replay(const StepRecord& record);

  /// Makes `step` the first step. Called before any rank ends a step.
  void begin_at(long step) { completed_step_ = step - 1; }

  /// True if no rank may pass the end of `step` before all ranks have ended it. Ranks should
  /// synchronize through the world before they call `finish`, because the watchdog does not see
  /// waits inside it.
  bool waits_for_all(long step) const {
    return options_.pause == EvaluationPause::rendezvous && is_evaluated(step);
  }

  /// Wakes all ranks that wait here, because a rank has failed and will not arrive.
  void cancel();

 private:
  /// A step that some rank has not ended yet.
  struct PendingStep {
    std::vector<RankStep> ranks;
    std::vector<std::vector<float>> weights;  // by rank, if the step is evaluated; otherwise empty
    int missing = 0;                          // number of ranks that have not ended the step
    int training = 0;  // number of ranks that train and have not ended the step
    /// The latest time at which a rank that trains ended the step, and the traffic that had arrived
    /// by then.
    double ended_s = 0;
    std::vector<Counters> arrived = {};
  };
  PendingStep& pending_step(long step);
  void complete(long step, PendingStep& pending, Workload& workload, const Stream& stream);
  void record(long step, PendingStep& pending, Workload& workload, const Stream& stream);
  std::vector<StepCounts> completed_by(double time_s) const;
  std::vector<float> model_of(std::size_t rank, long step, double time_s);
  void count_arrived(StepRecord& record, std::vector<Counters> arrived);
  double wait_for(long step, double entered_s, std::unique_lock<std::mutex>& lock,
                  const Stream& stream);

  const Options options_;
  const Sink sink_;
  std::mutex mutex_;
  std::condition_variable completed_;
  std::map<long, PendingStep> pending_;
  struct EndedStep {
    double end_s;
    double batches;  // in all steps up to and including this one
  };
  std::vector<std::vector<EndedStep>> ended_;  // by rank; empty if ranks wait for each other
  long completed_step_ = -1;
  double previous_time_s_ = 0, arrived_until_s_ = 0;
  Counters previous_arrived_;
  double evaluation_began_s_ = 0;
  bool cancelled_ = false;
};

}  // namespace trigram
