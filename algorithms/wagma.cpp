// WAGMA-SGD: models are averaged in groups that change every step, without waiting for late workers
// (wait-avoiding group model averaging, arXiv 2005.00124, Algorithm 2).
//
//   worker i, step t:  w' = x_i - lr U(g_i(x_i));  send_i = w';  wait until version t has run
//                      x_i = sum / S             if w' is inside the sum (in time)
//                      x_i = (sum + w') / (S+1)  if an older model of i is (late)
//     every tau steps: x_i = mean of all send_j, of this step
//   version t: on every rank's agent, when the first worker has arrived: sum of the group's send_j
//
// Groups of S ranks: those that agree in all but the bits (t lg S + k) mod lg P, k < lg S, of their
// rank. `sum` is that of the latest version, so what counts is which of the worker's models it
// holds.
//
// Steps and bytes per rank, S_b bytes of model: lg S messages and lg S S_b bytes per group sum
// (butterfly), 2(P-1) and 2(P-1)/P S_b per global average (ring); activation: P-1 control messages.

#include <algorithm>
#include <bit>
#include <memory>

#include "algorithms/entries.h"
#include "algorithms/execution/execution.h"
#include "algorithms/options.h"
#include "algorithms/peers/butterfly_group.h"
#include "algorithms/primitives/late_contributions.h"
#include "algorithms/primitives/partial_collective.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

enum class Grouping { dynamic, fixed };

struct Options {
  Execution execution;
  std::int64_t tau = 10;
  std::int64_t group_size = 0;
  Grouping grouping = Grouping::dynamic;
  AllreduceAlgorithm group_allreduce = AllreduceAlgorithm::recursive_doubling;
  AllreduceAlgorithm allreduce = AllreduceAlgorithm::ring;
};

/// Given, or the square root of P = 2^k, rounded up to a power of two.
int group_size(const Options& options, int P) {
  if (options.group_size > 0) return static_cast<int>(options.group_size);
  return 1 << (std::bit_width(static_cast<unsigned>(P)) / 2);
}

class Wagma final : public Algorithm {
 public:
  explicit Wagma(const Options& options) : options_(options) {}

  void train(Context ctx, Run& run) override {
    const Tensor weights = run.workload.weights();
    const auto shared = std::make_shared<LateModels>(ctx, weights);
    const int S = group_size(options_, ctx.world_size);
    PartialCollective partial(
        ctx, "agent",
        {.versions = run.steps.count(),
         .initiator =
             [*this](long t) { return global(t) ? Activation::kAllRanks : Activation::kAnyRank; },
         .execute =
             [*this, shared, S](Context c, long t) {
               if (global(t)) return c_fp_s(c, shared->model(), options_.allreduce);
               const long turn = options_.grouping == Grouping::dynamic ? t : 0;
               const auto members = butterfly_group(c.rank(), c.size(), S, turn);
               Subset group(*c.comm, members);
               shared->sum(c.with(group), options_.group_allreduce);
             }});
    for (long t : run.steps) {
      local_step(ctx, run);
      shared->contribute(ctx, weights, t);
      partial.arrive(ctx, t);
      if (global(t)) ctx.device->copy(weights, shared->model());
      else run.steps.record_staleness(shared->merge(ctx, weights, S, t));
    }
  }

 private:
  bool global(long step) const { return (step + 1) % options_.tau == 0; }
  Options options_;
};

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  const int P = layout.ranks();
  if (!std::has_single_bit(static_cast<unsigned>(P)))
    throw ConfigError(pointer, fmt::format("wagma groups workers by the bits of their ranks, so "
                                           "their number must be a power of two, not {}",
                                           P));
  const std::int64_t S = options.group_size, least = std::min(P, 2);
  if (S != 0 && (S < least || S > P || !std::has_single_bit(static_cast<std::uint64_t>(S))))
    throw ConfigError(pointer + "/group_size",
                      fmt::format("expected a power of two from {} to the {} workers, or 0, not {}",
                                  least, P, S));
}

}  // namespace

AlgorithmEntry wagma_entry() {
  return algorithm_entry<Wagma>(
      {.name = "wagma",
       .doc = "Workers average models in changing groups that do not wait for late ones",
       .trigram = kAsyncFullDecentralised,
       .execution_options = "",
       .source = "Li et al., WAGMA-SGD, arXiv 2005.00124"},
      FieldTable<Options>{}
          .field("tau", &Options::tau, integer(1), "Average over all workers every so many steps")
          .field("group_size", &Options::group_size, integer(0),
                 "Workers in a group, a power of two; 0: the square root of their number")
          .field("grouping", &Options::grouping,
                 one_of<Grouping>({{"dynamic", Grouping::dynamic}, {"fixed", Grouping::fixed}}),
                 "Whether groups change every step")
          .field("group_allreduce", &Options::group_allreduce,
                 one_of<AllreduceAlgorithm>({{"butterfly", AllreduceAlgorithm::recursive_doubling},
                                             {"ring", AllreduceAlgorithm::ring},
                                             {"rabenseifner", AllreduceAlgorithm::rabenseifner}}),
                 "Algorithm of the sums in groups")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the averages"),
      check);
}

}  // namespace trigram
