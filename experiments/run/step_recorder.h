#pragma once

#include <vector>

#include "core/algorithm.h"
#include "core/metering/meter.h"
#include "core/training_state.h"
#include "experiments/run/gradient_noise.h"
#include "experiments/run/rank_main.h"
#include "experiments/run/rank_report.h"
#include "netmodels/failures.h"

namespace trigram {

/// Sends to rank 0 the steps that each rank has ended since the last call; rank 0 passes them to
/// its collector. Collective. Returns the reports of all ranks, by rank, on rank 0; other ranks get
/// an empty list.
std::vector<RankReport> send_steps_to_rank_0(const Context& raw, SharedState& shared,
                                             RankReport& own, Workload& workload);

/// Measures and reports the steps of one rank.
class StepRecorder {
 public:
  /// `trains` is false for a rank that only serves; it has no loss and no injected delays.
  StepRecorder(SharedState& shared, bool trains);

  /// `noise` is null if the noise of gradients is not measured.
  void start(const Context& raw, Meter& meter, Workload& workload, NoiseMeter* noise);
  Steps& steps() { return steps_; }
  double began_s() const { return origin_s_; }
  /// Shows everything that the steps after the present one depend on.
  void visit_state(StateVisitor& visitor);
  /// The ranks of a simulated run begin at `begin_s`, after an earlier attempt that began at
  /// `origin_s`, from which times count.
  void begin_again_at(double begin_s, double origin_s);
  /// Continues a run after `step` steps, whose state has been restored; this took `later_s` seconds
  /// of the clock, which do not count as training time; infinite if all times begin anew.
  void continue_at(long step, double later_s);
  /// The steps of this rank that have not been sent to rank 0 yet, if ranks are processes.
  RankReport& report() { return report_; }

 private:
  void begin(long step);
  void delay(double seconds);
  void freeze();
  void end(long step);
  void report(long step, const RankStep& done);
  Tensor evaluated_weights();
  void evaluate_together();

  SharedState& shared_;
  const bool trains_;
  Steps steps_;
  Context raw_;
  Meter* meter_ = nullptr;
  Workload* workload_ = nullptr;
  NoiseMeter* noise_ = nullptr;
  Counters before_;
  bool began_ = false;      // true from the first step on
  Steps::Staleness stale_;  // recorded between the last step and a checkpoint
  double begin_s_ = 0, origin_s_ = 0;
  double begin_again_s_ = 0;      // 0: this is the first attempt
  double job_origin_s_ = 0;       // time of the job at origin_s_
  std::vector<Failure> freezes_;  // of this rank, in the order of time
  std::size_t next_freeze_ = 0;
  double delayed_s_ = 0;   // in the current step
  double excluded_s_ = 0;  // seconds spent on evaluations so far
  double logged_s_ = 0;    // end of the last step that was logged
  RankReport report_;
};

}  // namespace trigram
