#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace trigram {

/// A crash of a simulated job, or a change of its nodes, and the work and the time that it cost.
struct Interruption {
  std::string name;  // such as "crash of node 3"
  double at_s = 0, lost_s = 0, recovery_s = 0;
};

/// Adds a process "job" to a timeline whose times are those of the job: its training, which ends at
/// `end_s`, the work that was lost, its recoveries, and a mark at each interruption.
/// `interruptions` are in the order of time.
void add_job(Json& timeline, const std::vector<Interruption>& interruptions, double end_s);

}  // namespace trigram
