#pragma once

#include <optional>
#include <string>

#include "algorithms/execution/low_rank_average.h"
#include "algorithms/membership/group_average.h"
#include "algorithms/primitives/primitives.h"
#include "algorithms/servers/partitions.h"
#include "core/codecs/registry.h"
#include "core/config/fields.h"
#include "core/layout.h"

namespace trigram {

// Option types that several algorithms share.

OptionType<AllreduceSpec> allreduce_kind();
/// As `allreduce_kind`, for groups whose size is a power of two; recursive doubling is called
/// "butterfly" there.
OptionType<AllreduceSpec> group_allreduce_kind();

OptionType<SecondPhase> second_phase_kind();
OptionType<Shares> shares_kind();
inline constexpr const char* kSharesDoc =
    "Part of the vector that each worker sums: the same for all, or more for workers with faster "
    "NICs";

/// Throws ConfigError at `pointer` unless the codec is a contraction (CodecEntry::is_contraction):
/// its error must be smaller than its input. Methods that encode the loss of a code again need
/// this.
void require_contraction(const CodecSpec& codec, const std::string& pointer);

/// A codec as in `codec_kind`; only contractions are accepted.
OptionType<CodecSpec> contraction_kind();

/// A codec as in `codec_kind`, or "none" for full precision.
OptionType<std::optional<CodecSpec>> optional_codec_kind();

/// The fields of an Options that has a `CodecSpec codec` and a `bool error_feedback`. `coded` is
/// the plural noun for the encoded tensors, such as "gradients".
template <class Options>
FieldTable<Options> coding_fields(const std::string& coded) {
  return FieldTable<Options>{}
      .field("codec", &Options::codec, codec_kind(), "Codec of the " + coded + " on the wire")
      .field("error_feedback", &Options::error_feedback, boolean(),
             "Add the coding error to the codec's next input");
}

/// The check of `coding_fields`: error feedback needs a contraction.
template <class Options>
void check_coding(const Options& options, const Layout&, const std::string& pointer) {
  if (options.error_feedback) require_contraction(options.codec, pointer + "/codec");
}

/// Adds the fields of an Options that has a `SecondPhase phase2` and a `Shares shares`. `doc`
/// documents `phase2`.
template <class Options>
FieldTable<Options> with_phase_fields(FieldTable<Options> fields, const std::string& doc) {
  return fields.field("phase2", &Options::phase2, second_phase_kind(), doc)
      .field("shares", &Options::shares, shares_kind(), kSharesDoc)
      .only_where([](const Options& options) { return options.phase2 == SecondPhase::direct; },
                  "needs \"phase2\": \"direct\" beside it: around a ring every worker passes on "
                  "all parts");
}

/// The fields of `coding_fields` and `with_phase_fields`, for a coded scatter-reduce.
template <class Options>
FieldTable<Options> scatter_reduce_fields(const std::string& coded) {
  return with_phase_fields(
      coding_fields<Options>(coded),
      "How coded means get from their owners to all workers: sent directly, or around a ring");
}

/// The fields of an Options that has `std::int64_t servers` and `std::optional<CodecSpec> codec`,
/// for methods whose workers push changes to model shards on servers and pull the shards.
template <class Options>
FieldTable<Options> shard_fields() {
  return FieldTable<Options>{}
      .field("servers", &Options::servers, servers_kind(),
             "Number of workers that each serve a shard of the model; \"all\": every worker")
      .field("codec", &Options::codec, optional_codec_kind(),
             "Codec of pushes and pulls on the wire; none: full precision");
}

/// The check of `shard_fields`.
template <class Options>
void check_shards(const Options& options, const Layout& layout, const std::string& pointer) {
  check_servers(options.servers, layout, pointer);
}

/// The fields of LowRank but for its codec. `approximated` is the noun for the tensors.
FieldTable<LowRank> low_rank_fields(const std::string& approximated);

/// Why an allreduce is refused where codes are exchanged in another way.
inline constexpr const char* kNoAllreduceOfCodes =
    "has no effect beside a codec; remove one of the two";

/// The options "quorum" and "grace" of an algorithm.
FieldTable<Quorum> quorum_fields();

/// The check of an Options that has a `Quorum quorum`: throws ConfigError if there are fewer
/// workers, or if rounds are hierarchical.
void check_quorum(const Quorum& quorum, const Execution& execution, const Layout& layout,
                  const std::string& pointer);

/// The schedule of an Options that has a `Quorum quorum` and a `sync_every`.
template <class Options>
ExchangeSchedule quorum_schedule(const Options& options, const Layout&) {
  ExchangeSchedule schedule{.cycle = Cycle{.steps = options.sync_every},
                            .interval_steps = options.sync_every};
  if (options.quorum.workers == 0) return schedule;
  schedule.cycle.reset();
  schedule.bounds_lead = true;
  return schedule;
}

/// The fields of `scatter_reduce_fields`, and the fields of a method that trains on moments after a
/// warm-up (`train_on_moments`).
template <class Options>
FieldTable<Options> moment_fields() {
  return scatter_reduce_fields<Options>("moments")
      .field("warmup_steps", &Options::warmup_steps, integer(0),
             "Optimizer steps on gradients of full precision before its variance is frozen and its "
             "moment is exchanged")
      .field("allreduce", &Options::allreduce, allreduce_kind(),
             "Algorithm of the allreduce in the warm-up");
}

}  // namespace trigram
