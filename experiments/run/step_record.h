#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/algorithm.h"
#include "core/config/option_type.h"
#include "core/metering/meter.h"
#include "experiments/run/evaluation.h"

namespace trigram {

/// What one rank did in one step.
struct RankStep {
  double end_s = 0;  // training time at its end
  Counters spent;    // in this step alone
  double loss = 0;   // NaN for a phantom
  Steps::Staleness staleness;
  long batches = 1;    // mini-batches that it took
  bool trains = true;  // false: only serves
};

/// The numbers of steps and of mini-batches that a rank has completed by some time.
struct Made {
  double steps = 0, batches = 0;
};

/// What all ranks did in one step.
struct StepRecord {
  long step = 0;
  std::vector<double> end_s;  // when each rank ended it
  std::vector<long> batches;  // mini-batches that each took
  double time_s = 0;          // when the last rank that trains did
  double step_s = 0;          // since the last of them ended the step before
  Counters mean;              // times: means over the ranks that train
  // Bytes and messages, summed over all ranks: in real time what each sent in its own step, in
  // simulated time what arrived within step_s.
  Counters sum;
  std::vector<Counters> arrived;  // simulated: by rank that sent it, from the start until time_s
  std::vector<Made> made;         // by rank, until time_s; empty where ranks wait for each other
  double loss = 0;                // mean over the ranks that train
  Steps::Staleness staleness;
  std::optional<Evaluation> evaluation;
};

/// Sums in the order of ranks, so that the result does not depend on who came first.
StepRecord reduce(long step, std::span<const RankStep> ranks, double previous_time_s);

/// One line of metrics.jsonl.
Json to_json(const StepRecord& record);
/// Adds the values of an evaluation; null where it has none.
void add_evaluation(Json& j, const Evaluation& evaluation);
/// The number, or null when it is not finite (JSON has no NaN).
Json finite(double value);

Counters operator-(const Counters& a, const Counters& b);
Counters operator+(const Counters& a, const Counters& b);
Counters operator*(long times, const Counters& counters);

}  // namespace trigram
