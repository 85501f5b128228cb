#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/algorithm.h"
#include "core/config/option_type.h"
#include "core/metering/meter.h"
#include "experiments/run/evaluation.h"
#include "experiments/run/gradient_noise.h"

namespace trigram {

/// The measurements of one rank in one step.
struct RankStep {
  double end_s = 0;      // training time at the end of the step, in seconds
  Counters spent;        // in this step alone
  double delayed_s = 0;  // the part of spent.compute_s in which the worker was delayed or frozen
  double loss = 0;       // NaN for a phantom workload
  Steps::Staleness staleness;
  long batches = 1;              // mini-batches that the rank took; if none, there is no loss
  GradientSquares squares = {};  // 0 if they are not measured
  bool trains = true;            // false for a server that does not train
  bool absent = false;           // true if the worker was not there
};

/// The numbers of steps and mini-batches that a rank has completed by some time.
struct StepCounts {
  double steps = 0, batches = 0;
};

/// The measurements of all ranks in one step.
struct StepRecord {
  long step = 0;
  std::vector<double> end_s;  // time at which each rank ended the step
  std::vector<long> batches;  // mini-batches that each rank took
  double time_s = 0;          // time at which the last rank that trains ended the step
  double step_s = 0;          // time_s minus the time_s of the step before
  Counters mean;              // times only: means over the ranks that train
  /// The time in which each rank computed or was delayed, by rank; NaN for ranks that do not train
  /// or were absent.
  std::vector<double> work_s;
  /// Seconds in which the ranks that train computed, without delays, summed over these ranks.
  double computing_s = 0;
  /// Bytes and messages, summed over all ranks: in real time, the traffic that each rank sent in
  /// its own step; in simulated time, the traffic that arrived within step_s.
  Counters sum;
  /// Traffic that arrived from the start until time_s, by sending rank; empty in real time.
  std::vector<Counters> arrived;
  std::vector<StepCounts> completed;  // by rank, until time_s; empty if ranks wait for each other
  double loss = 0;                    // mean over the ranks that took a mini-batch
  Steps::Staleness staleness;
  GradientSquares squares = {};  // means over the ranks that train
  std::optional<Evaluation> evaluation;
};

/// Combines the measurements of all ranks. Sums are in rank order, so that the result does not
/// depend on the order in which ranks ended the step.
StepRecord reduce(long step, std::span<const RankStep> ranks, double previous_time_s);

/// The record as bytes, for a checkpoint, and back.
std::string to_bytes(const StepRecord& record);
StepRecord record_from_bytes(const std::string& bytes);

/// One line of metrics.jsonl.
Json to_json(const StepRecord& record);
/// Adds the values of an evaluation to `j`; values that the evaluation lacks are null.
void add_evaluation(Json& j, const Evaluation& evaluation);
/// The number, or null if it is not finite, because JSON has no NaN.
Json finite(double value);

Counters operator-(const Counters& a, const Counters& b);
Counters operator+(const Counters& a, const Counters& b);
Counters operator*(long times, const Counters& counters);

}  // namespace trigram
