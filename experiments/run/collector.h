#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "experiments/run/step_record.h"

namespace trigram {

class StoppingRule;

/// How the ranks of a world behave while a model is evaluated.
enum class EvaluationPause {
  none,       // virtual time stands still by itself
  gate,       // real time, asynchronous algorithm: ranks that come by wait for its end
  rendezvous  // real time, synchronous algorithm: all ranks come to the step, then wait for its end
};

/// Gathers what the ranks of a process report at the end of each step. Whoever completes a step
/// reduces it, evaluates the models when the step is due, and hands the record to the sink, step by
/// step in order, as far as they count.
///
/// Ranks may be threads or the actors of a simulation. An actor must not block on an OS primitive
/// that another actor holds: it never finds the mutex taken, since no actor is switched while one
/// is in here.
class Collector {
 public:
  struct Options {
    int ranks = 1;
    int trainers = 0;                        // ranks that train; 0: all
    std::span<const Counters> arrived = {};  // MeterOptions::arrived of a simulated run
    long steps = 1;
    long eval_every = 0;  // 0: only after the last step
    bool evaluates = true;
    /// Ranks wait for each other. Of those that do not, the models that they have when the last
    /// one has ended a step are evaluated, and what they have made by then is counted.
    bool waits = true;
    EvaluationPause pause = EvaluationPause::none;
    StoppingRule* stopping = nullptr;  // is told of all steps that count, where it is there
  };
  using Sink = std::function<void(const StepRecord&)>;
  Collector(Options options, Sink sink)
      : options_(options),
        sink_(std::move(sink)),
        ended_(options.waits ? 0 : static_cast<std::size_t>(options.ranks)) {}

  /// True when the models are evaluated after `step`.
  bool due(long step) const;

  /// Rank `rank` has ended `step`, with these weights if that is due; `workload` evaluates them.
  /// Returns the seconds of `stream`'s clock that this call took and that do not count as training.
  /// Throws what the evaluation throws.
  double finish(int rank, long step, const RankStep& done, std::span<const float> weights,
                Workload& workload, const Stream& stream);

  /// The same, with the weights of the rank's own workload.
  double finish(int rank, long step, const RankStep& done, Workload& workload,
                const Stream& stream);

  /// True when no rank may pass the end of `step` before all have come. They should meet in the
  /// world before they call `finish`: it keeps them waiting where no watchdog sees them.
  bool gathers(long step) const {
    return options_.pause == EvaluationPause::rendezvous && due(step);
  }

  /// Wakes the ranks that wait here: one of them has failed and will not come.
  void cancel();

 private:
  struct Pending {
    std::vector<RankStep> ranks;
    std::vector<std::vector<float>> weights;  // of due steps
    int missing = 0;
    int training = 0;               // of those that are missing
    std::vector<Counters> arrived;  // when the last of them ended it
  };
  Pending& pending(long step);
  void complete(long step, Pending& all, Workload& workload, const Stream& stream);
  void record(long step, Pending& all, Workload& workload, const Stream& stream);
  std::vector<Made> made_until(double time_s) const;
  std::vector<float> model_of(std::size_t rank, long step, double time_s);
  void count_arrived(StepRecord& record, std::vector<Counters> arrived);
  double wait_for(long step, double entered_s, std::unique_lock<std::mutex>& lock,
                  const Stream& stream);

  const Options options_;
  const Sink sink_;
  std::mutex mutex_;
  std::condition_variable completed_;
  std::map<long, Pending> pending_;
  struct Ended {
    double end_s;
    double batches;  // of all steps until then
  };
  std::vector<std::vector<Ended>> ended_;  // by rank, of those that do not wait
  long completed_step_ = -1;
  double previous_time_s_ = 0;
  Counters previous_arrived_;
  double evaluation_began_s_ = 0;
  bool cancelled_ = false;
};

}  // namespace trigram
