// Moshpit SGD: workers on a grid step alone and average their models along one axis after another
// (Ryabinin et al., arXiv 2103.03239).
//
//   x_i = x_i - lr U(g_i(x_i));  every H steps, in `rounds` rounds:
//   x_i = mean of x_j over the workers whose coordinates equal those of i along all axes but one
//
// Round r averages along axis r mod d, where d is the number of axes. On a full grid, d consecutive
// rounds yield the mean over all workers. If there are fewer workers than grid positions, the
// groups differ in size; the mean over all workers is then conserved, but d rounds do not reach it.
// (The paper's workers find their groups at run time, as workers come and go. Here the grid is
// fixed, unless workers fail: then the workers that are there at the beginning of a round take the
// first places.) If the number of workers is a prime, the default grid has one side with all
// workers, and rounds along its other sides, of length 1, average nothing. Users should then give a
// `grid`.
//
// Messages and bytes per rank and round, for a model of S bytes, M workers in the group and a ring:
// 2(M-1) messages (per bucket), 2(M-1)/M S bytes.

#include <iterator>
#include <numeric>
#include <vector>

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"
#include "algorithms/membership/group_average.h"
#include "algorithms/options.h"
#include "algorithms/peers/grid_group.h"
#include "algorithms/peers/registry.h"
#include "core/subset.h"

namespace trigram::algorithm::moshpit {
namespace {

struct Options {
  Execution execution;
  std::vector<std::int64_t> grid;  // empty: `dimensions` sides of nearly equal length
  std::int64_t dimensions = 2;
  std::int64_t sync_every = 1;
  std::int64_t rounds = 1;
  AllreduceSpec allreduce;

  std::vector<int> sides(int workers) const {
    if (grid.empty()) return grid_sides(workers, dimensions);
    return {grid.begin(), grid.end()};
  }
  long axes() const { return grid.empty() ? dimensions : std::ssize(grid); }
};

/// Training whose workers come and go.
void train_members(Context ctx, Run& run, const Options& options) {
  const auto group = [options](int index, int count, long round) {
    return grid_group(index, count, options.sides(count), round % options.axes());
  };
  const auto due = [options](long t) -> DueRounds {
    return {t / options.sync_every * options.rounds, (t + 1) / options.sync_every * options.rounds};
  };
  train_in_groups(ctx, run, group, due, options.allreduce);
}

void train(Context ctx, Run& run, const Options& options) {
  if (run.membership) return train_members(ctx, run, options);
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, [options](Context c, const Tensor& x, Slot slot) {
    const std::vector<int> sides = options.sides(c.size());
    const long first = slot.step / options.sync_every * options.rounds;
    for (long round = first; round < first + options.rounds; ++round) {
      const auto members = grid_group(c.rank(), c.size(), sides, round % options.axes());
      Subset group(*c.comm, members);
      c_fp_s(c.with(group), x, options.allreduce);
    }
  });
  for (long t : run.steps) local_step(ctx, run, *comm, average, (t + 1) % options.sync_every == 0);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  const long averages = options.axes() / std::gcd(options.axes(), long{options.rounds});
  return {.cycle = Cycle{.steps = averages * options.sync_every},
          .interval_steps = options.sync_every};
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  if (options.grid.empty()) return;
  const Participants needed = participants(options.execution, layout);
  std::int64_t cells = 1;
  for (const std::int64_t side : options.grid)
    if (cells < needed.count) cells *= side;
  if (cells < needed.count)
    throw ConfigError(
        child(pointer, "grid"),
        fmt::format("{0} {1} too few for {2} {3}; expected sides whose product is at least {2}",
                    cells, cells == 1 ? "place is" : "places are", needed.count, needed.noun));
}

}  // namespace

AlgorithmEntry moshpit_entry() {
  return algorithm_entry(
      {.name = "moshpit",
       .doc = "Workers on a grid average their models along one axis after another",
       .trigram = kSyncFullPrecisionDecentralised,
       .execution_options = "FH",
       .source = "Ryabinin et al., Moshpit SGD, arXiv 2103.03239",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("grid", &Options::grid, list_of(integer(1, 1 << 20)),
                 "Lengths of the grid's axes; their product must be at least the number of "
                 "workers. Empty: derived from `dimensions`")
          .field("dimensions", &Options::dimensions, integer(1, 16),
                 "d: number of axes; without `grid`, the sides are d nearly equal factors of the "
                 "number of workers (nodes, if hierarchical)")
          .only_where(
              [](const Options& options) { return options.grid.empty(); },
              "`grid` already gives the number of dimensions; remove `dimensions` or `grid`")
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages")
          .field("rounds", &Options::rounds, integer(1, 64),
                 "Rounds per average; each round averages along the next axis, cyclically")
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Allreduce algorithm used within a group"),
      {.schedule = schedule,
       .check = check,
       .dispensable = [](const Options& options, const Layout& layout) {
         return options.execution.hierarchical ? Workers{} : all_ranks(layout);
       }});
}

}  // namespace trigram::algorithm::moshpit
