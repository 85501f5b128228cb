// DiLoCo: long blocks of local steps, after each of which an outer optimizer takes the change of
// the average model as its gradient (Douillard et al., arXiv 2311.08105).
//
//   every H steps, from x_0 to the exact average x_H:
//     d = x_0 - x_H;  v = mu v + d;  x_0 = x_0 - lr_out (d + mu v);  x_i = x_0
//
// The outer optimizer is SGD with Nesterov's momentum in PyTorch's form. The inner optimizer is
// AdamW in the paper; here it is the experiment's optimizer. Its state stays local. With Muon as
// inner optimizer this is MuLoCo (Therien et al., arXiv 2505.23725). With a quorum, an average does
// not wait for late workers (membership/group_average.h), as in Decoupled DiLoCo (arXiv
// 2604.21428), and training goes on without workers that fail.
//
// With a codec Q, the workers average codes of their differences, and the method counts as low
// precision: d = 1/P sum_j Q(a_j), where a_j = x_0 - x_j or, with error feedback, a_j = x_0 - x_j +
// e_j and e_j = a_j - Q(a_j), as in MuLoCo. The codes go to all workers ("reduction": "gather"), or
// every hop of a ring encodes the partial sum anew ("ring"), as in INTELLECT-1 (arXiv 2412.01152).
//
// Messages and bytes per rank and average, for a model of S bytes and a ring: 2(P-1) messages,
// 2(P-1)/P S bytes; with codes of C bytes, P-1 messages and (P-1) C bytes, or with "ring" 2(P-1)
// messages and 2(P-1)/P C bytes. If weights are exchanged in buckets (option `bucket`), so for each
// bucket, one bucket after another. Memory: two more models, and one with error feedback.

#include <optional>

#include "algorithms/entries.h"
#include "algorithms/execution/outer_momentum.h"
#include "algorithms/options.h"

namespace trigram::algorithm::diloco {
namespace {

enum class Reduction { gather, ring };

struct Options {
  Execution execution;
  std::int64_t sync_every = 500;
  NesterovOuter outer;
  AllreduceSpec allreduce;
  std::optional<CodecSpec> codec;
  bool error_feedback = false;
  Reduction reduction = Reduction::gather;
  Quorum quorum;
};

Exchange average_codes(const Run& run, const Options& options) {
  if (options.reduction == Reduction::ring) return coded_ring_average(*options.codec, run.seed);
  return gathered_average({.codec = *options.codec,
                           .error_feedback = options.error_feedback,
                           .seed = run.seed,
                           .state = run.state});
}

void train(Context ctx, Run& run, const Options& options) {
  const OuterStep outer = options.outer.step();
  const auto average = [&options](std::vector<int> members) {
    return average_among(std::move(members), options.allreduce);
  };
  if (options.quorum.workers > 0)
    return train_with_quorum(ctx, run, options.sync_every, options.quorum, average, &outer);
  train_in_blocks(
      ctx, run, options.sync_every,
      options.codec ? average_codes(run, options) : full_average(options.allreduce),
      [outer](float) { return outer; }, options.codec ? Averaged::differences : Averaged::models);
}

void check(const Options& options, const Layout& layout, const std::string& pointer) {
  check_quorum(options.quorum, options.execution, layout, pointer);
  if (options.quorum.workers > 0 && options.codec)
    throw ConfigError(child(pointer, "codec"), "expected \"none\" beside a \"quorum\"");
  if (options.error_feedback && options.reduction == Reduction::ring)
    throw ConfigError(child(pointer, "error_feedback"),
                      "expected false beside \"reduction\": \"ring\", whose hops encode sums");
}

}  // namespace

AlgorithmEntry diloco_entry() {
  const auto has_codec = [](const Options& options) { return options.codec.has_value(); };
  const char* const kNeedsCodec = "has no effect here; expected a \"codec\" beside it";
  return algorithm_entry(
      {.name = "diloco",
       .doc = "Long blocks of local steps, then an outer step of SGD with Nesterov's momentum",
       .trigram = kSyncFullPrecisionCentralised,
       .trigram_with_codec = kSyncLowPrecisionCentralised,
       .execution_options = "FH",
       .source = "Douillard et al., DiLoCo, arXiv 2311.08105",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("sync_every", &Options::sync_every, integer(1), "H: steps between averages")
          .include(&Options::outer, nesterov_outer_fields())
          .field("allreduce", &Options::allreduce, allreduce_kind(),
                 "Algorithm of the allreduce, without a codec")
          .only_where([](const Options& options) { return !options.codec; }, kNoAllreduceOfCodes)
          .field("codec", &Options::codec, optional_codec_kind(),
                 "Codec of the workers' differences on the wire; none: full precision")
          .field("error_feedback", &Options::error_feedback, boolean(),
                 "Add the coding error to the codec's next input")
          .only_where(has_codec, kNeedsCodec)
          .field("reduction", &Options::reduction,
                 one_of<Reduction>({{"gather", Reduction::gather}, {"ring", Reduction::ring}}),
                 "How codes are averaged: gather: every code goes to every worker; ring: every "
                 "hop of a ring encodes its partial sum anew")
          .only_where(has_codec, kNeedsCodec)
          .include(&Options::quorum, quorum_fields()),
      {.schedule = quorum_schedule<Options>,
       .check = check,
       .dispensable = [](const Options& options, const Layout& layout) {
         return options.quorum.workers > 0 ? all_ranks(layout) : Workers{};
       }});
}

}  // namespace trigram::algorithm::diloco
