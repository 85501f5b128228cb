// WAGMA-SGD: averages models in groups that change every step, without waiting for late workers
// (wait-avoiding group model averaging, arXiv 2005.00124, Algorithm 2).
//
//   worker i, step t:  w' = x_i - lr U(g_i(x_i));  send_i = w';  wait until version t has run
//                      x_i = sum / S             if the sum includes w' (i was in time)
//                      x_i = (sum + w') / (S+1)  if it includes an older model of i (i was late)
//     every tau steps: x_i = mean of all send_j, of this step
//   version t: runs on every rank's agent as soon as the first worker has arrived:
//                      sum = sum of the group's send_j
//
// A group consists of S ranks that agree in all bits of their rank except the bits (t lg S + k) mod
// lg P, k < lg S. `sum` is the result of the latest version. A worker counts as late if that sum
// includes an older model of it. With a codec Q (our own low-precision form), the sum of worker i
// is S (send_i + mean_j Q(d_j) - Q(d_i)), where d_j is send_j minus the last mean over all ranks;
// the sum of all models is conserved. If weights are exchanged in buckets (option `bucket`), each
// bucket has its own versions.
//
// Messages and bytes per rank, for S_b bytes of model (or bucket) and C bytes of its code: per
// group sum, lg S messages and lg S S_b bytes (butterfly), or with a codec S-1 messages and (S-1) C
// bytes; per global average, 2(P-1) messages and 2(P-1)/P S_b bytes (ring).

#include <memory>

#include "algorithms/asynchronous/group_models.h"
#include "algorithms/asynchronous/partial_collective.h"
#include "algorithms/entries.h"
#include "algorithms/execution/parts.h"
#include "algorithms/options.h"
#include "algorithms/peers/butterfly.h"

namespace trigram::algorithm::wagma {
namespace {

struct Options {
  Execution execution;
  bool through_host = false, dynamic = true;
  std::int64_t tau = 10, group_size = 0;
  AllreduceSpec group_allreduce = AllreduceAlgorithm::recursive_doubling;
  AllreduceSpec allreduce;
  std::optional<CodecSpec> codec;
};

bool averages_all(const Options& options, long step) { return (step + 1) % options.tau == 0; }

void train(Context ctx, Run& run, const Options& options) {
  const std::vector<Part> parts = parts_of(run);
  const HostPasses host(options.through_host);
  const auto shared = std::make_shared<std::vector<GroupModels>>();
  for (const Part& part : parts)
    shared->emplace_back(ctx, part.weights, run.seed, options.codec, options.group_allreduce, host,
                         run.state.child(fmt::format("part {}", part.index)));
  const int S = butterfly_group_size(static_cast<int>(options.group_size), ctx.world_size);
  const auto B = static_cast<long>(parts.size());  // version t B + b averages part b in step t
  PartialCollective partial(
      ctx, "agent",
      {.versions = B * run.steps.count(),
       .initiator =
           [options, B](long version) {
             return averages_all(options, version / B) ? Activation::kAllRanks
                                                       : Activation::kAnyRank;
           },
       .execute =
           [options, shared, S, B](Context c, long version) {
             const Slot slot{static_cast<int>(version % B), version / B};
             GroupModels& part = (*shared)[static_cast<std::size_t>(slot.bucket)];
             if (averages_all(options, slot.step)) part.average_all(c, options.allreduce);
             else
               part.sum(c, butterfly_group(c.rank(), c.size(), S, options.dynamic ? slot.step : 0),
                        slot);
           },
       .first = B * run.steps.current()});
  for (long t : run.steps) {
    compute_by_part(ctx, run, [&](const Part& part) {
      optimizer_step(ctx, run, part);
      (*shared)[static_cast<std::size_t>(part.index)].models.contribute(ctx, part.weights, t);
      partial.announce(ctx, t * B + part.index);
    });
    for (const Part& part : parts) {
      LateModels& models = (*shared)[static_cast<std::size_t>(part.index)].models;
      partial.wait(ctx, t * B + part.index);
      if (averages_all(options, t)) models.take(ctx, part.weights);
      else run.steps.record_staleness(models.merge(ctx, part.weights, S, t));
    }
    host.charge(ctx);
  }
}

ExchangeSchedule schedule(const Options& options, const Layout&) {
  return {.cycle = Cycle{.steps = options.tau, .exact = false}};
}

}  // namespace

AlgorithmEntry wagma_entry() {
  return algorithm_entry(
      {.name = "wagma",
       .doc = "Workers average models in changing groups that do not wait for late ones",
       .trigram = kAsyncFullPrecisionDecentralised,
       .trigram_with_codec = kAsyncLowPrecisionDecentralised,
       .execution_options = "F",
       .source = "Li et al., WAGMA-SGD, arXiv 2005.00124",
       .exchanges_weights = true},
      train,
      FieldTable<Options>{}
          .field("through_host", &Options::through_host, boolean(), kThroughHost)
          .field("tau", &Options::tau, integer(1), "Steps between averages over all workers")
          .field("group_size", &Options::group_size, integer(0),
                 "Workers per group, a power of two; 0: about the square root of their number")
          .field("grouping", &Options::dynamic, one_of<bool>({{"dynamic", true}, {"fixed", false}}),
                 "dynamic: groups change in every step; fixed: groups stay the same")
          .field("group_allreduce", &Options::group_allreduce, group_allreduce_kind(),
                 "Algorithm of the sums in groups")
          .only_where([](const Options& options) { return !options.codec; },
                      "has no effect beside a codec, whose codes are exchanged by an allgather; "
                      "remove one of the two")
          .field("allreduce", &Options::allreduce, allreduce_kind(), "Algorithm of the averages")
          .field("codec", &Options::codec, optional_codec_kind(),
                 "Codec of the difference between a model and the last average"),
      {.schedule = schedule,
       .check = [](const Options& options, const Layout& layout, const std::string& pointer) {
         check_butterfly_groups(options.group_size, layout.ranks(), pointer);
       }});
}

}  // namespace trigram::algorithm::wagma
