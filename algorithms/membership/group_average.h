#pragma once

#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"

// Averages among some of the ranks, and rounds of local SGD that go on without late workers.

namespace trigram {

struct OuterStep;

/// Averages by an allreduce among `members`, in which this rank is.
Exchange average_among(std::vector<int> members, const AllreduceSpec& allreduce);

/// The quorum of a round, and the time for which it then waits for the other workers.
struct Quorum {
  std::int64_t workers = 0;  // 0: rounds wait for all workers
  double grace_s = 0;
};

/// Local SGD, with the outer optimizer `outer` unless it is null, in rounds of `sync_every` steps
/// that a quorum closes (Rounds). A worker that comes late drops its steps since the last round,
/// takes the weights of a round's end and the outer optimizer's state from another worker, and goes
/// on with the step at which that worker is. `average(x, members)` returns the exchange.
void train_with_quorum(Context ctx, Run& run, long sync_every, const Quorum& quorum,
                       const std::function<Exchange(std::vector<int> members)>& average,
                       const OuterStep* outer);

}  // namespace trigram
