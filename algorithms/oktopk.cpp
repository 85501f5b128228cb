// Ok-Topk: each rank adds up one region of the elements that all ranks find largest; then all ranks
// keep the largest sums (Li and Hoefler, arXiv 2201.07598).
//
//   v = g_i(x) + e_i;  s_i = the elements of v with |v| >= h_i
//     m_j = 1/P sum_i (s_i in region j), at rank j, which sends all elements of m_j with |m_j| >= h
//     g = m_1, ..., m_P;  e_i = v, but 0 where g and the elements sent by i both have an element
//   x = x - lr U(g)
//
// In every `threshold_every`-th step the thresholds h_i and h are exact: k elements reach each of
// them. In the other steps each threshold changes by about a percent: it rises if far more than k
// elements reached it and fitted into the messages, and falls if far fewer did. Region boundaries
// are chosen such that about k/P elements of every rank lie in each region: each rank computes the
// boundaries that divide its own k elements equally, and every `rebalance_every` steps the ranks
// agree on the means of these boundaries.
//
// The paper sends all selected elements, so message sizes differ: a rank sends 2 to 6 k(P-1)/P
// words in all. Here message sizes must be known before the values are known. So every message
// holds up to `slack` k/P elements, the largest ones, and takes as long as a full message. Elements
// that do not fit stay in the residual. A rank thus sends 4 slack k(P-1)/P words; a slack of 1.5
// gives the paper's maximum.
//
// Messages and bytes per rank and iteration, with k_b elements of a bucket: P-1 messages to the
// owners of regions and P-1 messages around a ring, each of 8 ceil(slack k_b/P) bytes; and, every
// `rebalance_every` steps, an allreduce of P-1 floats, lg P messages. Memory: the residual; a
// bucket and its codes as scratch.

#include <numeric>

#include "algorithms/entries.h"
#include "algorithms/execution/regional_average.h"
#include "algorithms/execution/steps.h"
#include "core/codecs/options.h"
#include "core/config/option_type.h"

namespace trigram::algorithm::oktopk {
namespace {

struct Options {
  Execution execution;
  Regional regional;
};

void train(Context ctx, Run& run, const Options& options) {
  train_on_gradients(ctx, run, regional_average(options.regional, run.state));
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
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OFH",
       .source = "Li and Hoefler, Ok-Topk, arXiv 2201.07598"},
      train, FieldTable<Options>{}.include(&Options::regional, regional_fields()),
      {.schedule = schedule});
}

}  // namespace trigram::algorithm::oktopk
