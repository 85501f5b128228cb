#pragma once

#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/exchange.h"

// Averages among some of the ranks, and rounds of local SGD that go on without late workers.

namespace trigram {

struct OuterStep;

/// Averages by an allreduce among `members`, in which this rank is.
Exchange average_among(std::vector<int> members, const AllreduceSpec& allreduce);

/// How vectors d_i with weights w_i become one. `mean`: sum w_i d_i / sum w_i. `radial`: directions
/// and lengths are averaged apart (Decoupled DiLoCo, arXiv 2604.21428), with phi(z) = z / |z|:
///
///   (sum w_i |d_i| / sum w_i) phi(sum w_i phi(d_i))
enum class Merge { radial, mean };

/// Averages among `members`, in which this rank is, with the weight w of this rank. An allreduce of
/// the vector, and one of 8 bytes by recursive doubling.
Exchange weighted_average_among(std::vector<int> members, const AllreduceSpec& allreduce, float w,
                                Merge merge);

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

/// The rounds that are due after a step: those from `first` to `end` - 1.
struct DueRounds {
  long first, end;
};

/// Workers come and go, step alone, and average in groups (Rounds::group), after the steps that
/// `due` names.
void train_in_groups(Context ctx, Run& run,
                     std::function<std::vector<int>(int index, int count, long round)> group,
                     const std::function<DueRounds(long step)>& due,
                     const AllreduceSpec& allreduce);
/// The same with pairs that average in the background, while both go on; a worker waits for its own
/// last average before the next.
void train_in_background_groups(
    Context ctx, Run& run, std::function<std::vector<int>(int index, int count, long round)> group,
    const std::function<DueRounds(long step)>& due);

}  // namespace trigram
