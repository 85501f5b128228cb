// ZeRO++'s gradient average by a quantised all-to-all in two levels (qgZ), for nodes of W workers
// (Wang et al., arXiv 2306.10209, section 3.3).
//
//   inside each node:  worker w gets Q(part w of g_i) of all workers i, and averages
//   between nodes:     it encodes the N parts of its average again by R, and sends part n to worker
//                      w of node n, which averages the N parts: 1/P of the mean gradient g
//   back:              S(part) goes to all workers, between nodes first;  x = x - lr U(g)
//
// Q and R are int4. ZeRO keeps one part of the optimizer per worker, so its last phase gathers
// weights, of 8 bits in ZeRO++; here all workers have all weights, and S carries gradients. Every
// element is encoded three times, however many workers there are.
//
// With `error_decay` (beta), a code is compensated by a moving average e of earlier errors, as in
// LoCo (Xie et al., arXiv 2407.04480), at both levels and with 8 bits for e, as in DeepSpeed
// (coalesced_collectives.py at 03aecee):
//
//   h = g + e;  send Q(h);  e = beta e + (1 - beta) (h - Q(h)), and 0 after every T steps
//
// With minmax_uint8 as Q and int4 with `hadamard` as R these are the two levels of SDP4Bit (Jia et
// al., arXiv 2410.15526), but without its 4-bit differences of weights.
//
// Messages and bytes per rank and iteration, for codes of Q_b, R_b and S_b bytes of a bucket:
// 2(W-1) + 2(N-1) messages, (W-1)/W (Q_b + S_b) bytes inside the node and (N-1)/(N W) (R_b + S_b)
// between nodes. Memory: with `error_decay`, 1 + 1/W models.

#include "algorithms/entries.h"
#include "algorithms/execution/steps.h"
#include "algorithms/execution/two_level_average.h"
#include "algorithms/options.h"

namespace trigram::algorithm::zeropp {
namespace {

struct Options {
  Execution execution;
  TwoLevels levels;
};

void train(Context ctx, Run& run, const Options& options) {
  train_on_gradients(ctx, run, two_level_average(options.levels, run.seed, run.state));
}

FieldTable<TwoLevels> level_fields() {
  using O = TwoLevels;
  return FieldTable<O>{}
      .field("codec", &O::codec, codec_kind(), "Codec of gradients inside nodes")
      .field("inter_codec", &O::inter_codec, codec_kind(),
             "Codec of the nodes' averages between nodes")
      .field("gather_codec", &O::gather_codec, codec_kind(),
             "Codec of mean gradients on the way to all workers")
      .field("error_decay", &O::error_decay, optional(number(0, 1, Open::above)),
             "beta: share of the moving average of errors that is kept, as in LoCo; null: errors "
             "are not compensated")
      .field("error_reset", &O::error_reset, integer(1),
             "T: steps after which the averages of errors begin again at 0")
      .only_where([](const O& o) { return o.error_decay.has_value(); },
                  "needs \"error_decay\" beside it");
}

void check(const Options& options, const Layout&, const std::string& pointer) {
  if (!options.levels.error_decay) return;
  require_contraction(options.levels.codec, child(pointer, "codec"));
  require_contraction(options.levels.inter_codec, child(pointer, "inter_codec"));
}

}  // namespace

AlgorithmEntry zeropp_entry() {
  return algorithm_entry(
      {.name = "zeropp",
       .doc = "Synchronous SGD whose gradients are averaged in 4 bits, inside and between nodes",
       .trigram = kSyncLowPrecisionCentralised,
       .execution_options = "OF",
       .source = "Wang et al., ZeRO++, arXiv 2306.10209; Xie et al., LoCo, arXiv 2407.04480"},
      train, FieldTable<Options>{}.include(&Options::levels, level_fields()), {.check = check});
}

}  // namespace trigram::algorithm::zeropp
