// Ok-Topk: each rank adds up one region of what all find largest, and all choose among the sums (Li
// and Hoefler, arXiv 2201.07598).
//
//   v = g_i(x) + e_i;  s_i = the elements of v with |v| >= h_i
//   m_j = 1/P sum_i (s_i in region j), at rank j, which sends all those with |m| >= h
//   g = m_1, ..., m_P;  e_i = v, but 0 where both what i has sent and g have an element
//   x = x - lr U(g)
//
// The thresholds h_i and h are those of the k largest elements in every `threshold_every`-th step;
// in the others they go up or down by a percent where far more or fewer than k have reached them
// and found room in a message.
// Regions are cut so that about k/P elements of every rank lie in each: at the mean over the ranks
// of where each would cut its own k, which they agree on every `rebalance_every` steps.
//
// The paper sends as many elements as there are: messages differ, from 2 to 6 k(P-1)/P words per
// rank in all. Here, where sizes must be known before values are, a message has room for `slack`
// k/P elements, the largest, and takes as long as a full one; what finds no room stays in the
// residual. That is 4 slack k(P-1)/P words, with a slack of 1.5 the most that the paper has.
//
// Steps and bytes per rank and iteration, with k_b elements of a bucket: P-1 messages to the owners
// and P-1 around a ring, each of 8 ceil(slack k_b/P) bytes; and, every `rebalance_every` steps, an
// allreduce of P-1 floats, lg P messages. Memory: the residual; a bucket and its codes of scratch.

#include <numeric>

#include "algorithms/entries.h"
#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/regional_average.h"
#include "algorithms/execution/steps.h"
#include "core/codecs/density.h"
#include "core/config/option_types.h"

namespace trigram {
namespace {

struct Options {
  Execution execution;
  Regional regional;
};

void train(Context ctx, Run& run, const Options& options) {
  auto comm = ctx.stream->fork("comm");
  const auto average = across(run.execution, regional_average(options.regional));
  for ([[maybe_unused]] long t : run.steps) gradient_step(ctx, run, *comm, average);
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = std::lcm(options.regional.threshold_every,
                                           options.regional.rebalance_every)}};
}

FieldTable<Regional> regional_fields() {
  return FieldTable<Regional>{}
      .field("density", &Regional::density, density_kind(),
             "Share of the elements that are chosen: k / number of elements")
      .field("slack", &Regional::slack, number(1, 1024),
             "Capacity of a message for one region, in units of k/P elements")
      .field("threshold_every", &Regional::threshold_every, integer(1),
             "Steps between exact computations of the thresholds")
      .field("rebalance_every", &Regional::rebalance_every, integer(1),
             "Steps between rebalances of the regions");
}

}  // namespace

AlgorithmEntry oktopk_entry() {
  return algorithm_entry(
      {.name = "oktopk",
       .doc = "Synchronous SGD on the largest elements of all gradients, added up in regions",
       .trigram = kSyncLowCentralised,
       .execution_options = "OFH",
       .source = "Li and Hoefler, Ok-Topk, arXiv 2201.07598"},
      train, FieldTable<Options>{}.include(&Options::regional, regional_fields()),
      {.schedule = schedule});
}

}  // namespace trigram
