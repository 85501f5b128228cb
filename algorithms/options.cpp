#include "algorithms/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

namespace {

/// A size in bytes: 0, or large enough to be worth a separate pass around the ring.
OptionType<std::size_t> segment_kind() {
  constexpr std::size_t kMinimum = 1024;
  OptionType<std::size_t> size = byte_size();
  size.parse = [parse = size.parse](const Json& j, const std::string& pointer) {
    const std::size_t nbytes = parse(j, pointer);
    if (nbytes > 0 && nbytes < kMinimum) wrong_type(pointer, "0B, or a size of at least 1KiB", j);
    return nbytes;
  };
  return size;
}

FieldTable<Rings> ring_fields() {
  return FieldTable<Rings>{}
      .field("channels", &Rings::channels, integer(1, 64),
             "Number of concurrent rings, each over its part of the vector; each leaves a node "
             "from a different worker")
      .refuse("in_flight",
              "no longer exists: a rank passes chunks on as soon as it has them; "
              "/cluster/transport/buffer sets how much the network buffers")
      .field("slice", &Rings::slice_bytes, byte_size(),
             "Longest message; a longer chunk is sent as several slices at once; 0B: chunks are "
             "not sliced")
      .field(
          "segment", &Rings::segment_bytes, segment_kind(),
          "Longest part of the vector that goes around the ring at a time; 0B: the whole vector");
}

FieldTable<NcclOptions> nccl_fields() {
  return FieldTable<NcclOptions>{}
      .field("nic", &NcclOptions::nic_Bps, optional(quantity(Dimension::bandwidth, true)),
             "Speed of a NIC as NCCL reads it from the system; null: the cluster's bandwidth")
      .field("compute_capability", &NcclOptions::compute_capability, integer(30, 200),
             "Ten times the GPUs' compute capability: 70 for V100, 80 for A100");
}

/// The schema of a table's fields, with a fixed "name" added.
Json named_schema(Json schema, const char* name) {
  schema["properties"]["name"] = {{"const", name}};
  schema["required"].push_back("name");
  return schema;
}

/// Refuses options for an algorithm that has none.
void refuse_options(const Json& options, const std::string& name, const std::string& pointer) {
  if (options.empty()) return;
  throw ConfigError(
      child(pointer, options.begin().key()),
      fmt::format("only ring and nccl have options; expected {} without options", name));
}

/// An allreduce among `names`: parses "name", or {"name": "ring" or "nccl", options}. Dumps the
/// name alone if all options have their defaults.
OptionType<AllreduceSpec> allreduce_kind_of(
    const std::vector<std::pair<std::string, AllreduceAlgorithm>>& names) {
  const OptionType<AllreduceAlgorithm> name = one_of(names);
  const FieldTable<Rings> rings = ring_fields();
  const FieldTable<NcclOptions> nccl = nccl_fields();
  const auto schema = [=]() -> Json {
    Json schemas = {name.schema(), named_schema(rings.schema(), "ring")};
    for (const auto& [listed, algorithm] : names)
      if (algorithm == AllreduceAlgorithm::nccl)
        schemas.push_back(named_schema(nccl.schema(), "nccl"));
    return {{"anyOf", std::move(schemas)}};
  };
  return {[=](const Json& j, const std::string& pointer) -> AllreduceSpec {
            if (!j.is_object()) return name.parse(j, pointer);
            const std::string chosen = component_name(j, pointer);
            const AllreduceAlgorithm algorithm = name.parse(chosen, child(pointer, "name"));
            const Json options = component_options(j);
            if (algorithm == AllreduceAlgorithm::nccl) return nccl.parse(options, pointer);
            if (algorithm == AllreduceAlgorithm::ring)
              return {algorithm, rings.parse(options, pointer)};
            refuse_options(options, chosen, pointer);
            return algorithm;
          },
          [=](const AllreduceSpec& spec) -> Json {
            Json j;
            if (spec.rings != Rings{}) j = rings.dump(spec.rings);
            else if (spec.nccl != NcclOptions{}) j = nccl.dump(spec.nccl);
            else return name.dump(spec.algorithm);
            j["name"] = name.dump(spec.algorithm);
            return j;
          },
          schema};
}

}  // namespace

OptionType<AllreduceSpec> allreduce_kind() {
  return allreduce_kind_of({{"ring", AllreduceAlgorithm::ring},
                            {"recursive_doubling", AllreduceAlgorithm::recursive_doubling},
                            {"rabenseifner", AllreduceAlgorithm::rabenseifner},
                            {"double_tree", AllreduceAlgorithm::double_tree},
                            {"nccl", AllreduceAlgorithm::nccl},
                            {"native", AllreduceAlgorithm::native}});
}

OptionType<AllreduceSpec> group_allreduce_kind() {
  return allreduce_kind_of({{"butterfly", AllreduceAlgorithm::recursive_doubling},
                            {"ring", AllreduceAlgorithm::ring},
                            {"rabenseifner", AllreduceAlgorithm::rabenseifner}});
}

OptionType<SecondPhase> second_phase_kind() {
  return one_of<SecondPhase>(
      {{"direct", SecondPhase::direct}, {"allgather", SecondPhase::allgather}});
}

OptionType<Shares> shares_kind() {
  return one_of<Shares>({{"equal", Shares::equal}, {"by_bandwidth", Shares::by_bandwidth}});
}

void require_contraction(const CodecSpec& codec, const std::string& pointer) {
  if (!is_contraction(codec))
    throw ConfigError(
        pointer,
        fmt::format(
            "with these options the error of {} can be larger than its input, and error feedback "
            "adds it to the next input; expected a codec whose error is smaller than its input, "
            "such as randk with \"unbiased\": false, or qsgd with more levels or smaller buckets",
            codec.name));
}

OptionType<CodecSpec> contraction_kind() {
  OptionType<CodecSpec> kind = codec_kind();
  kind.parse = [parse = kind.parse](const Json& j, const std::string& pointer) {
    CodecSpec codec = parse(j, pointer);
    require_contraction(codec, pointer);
    return codec;
  };
  return kind;
}

OptionType<std::optional<CodecSpec>> optional_codec_kind() {
  const OptionType<CodecSpec> codec = contraction_kind();
  std::vector<std::string> names = {"none"};
  for (const CodecEntry& entry : codecs()) names.push_back(entry.name);
  return {[codec, names](const Json& j, const std::string& pointer) -> std::optional<CodecSpec> {
            if (j == "none") return std::nullopt;
            const bool named = j.is_string() || (j.is_object() && j.contains("name"));
            if (!named || j == Json{{"name", "none"}})
              wrong_type(pointer, "\"none\", or a codec by its name", j);
            const std::string name = component_name(j, pointer);
            if (std::ranges::find(names, name) == names.end())
              unknown_name(j.is_string() ? pointer : child(pointer, "name"), "codec", name, names);
            return codec.parse(j, pointer);
          },
          [codec](const std::optional<CodecSpec>& spec) -> Json {
            return spec ? codec.dump(*spec) : Json("none");
          },
          [schema = codec.schema]() -> Json {
            return {{"anyOf", {{{"const", "none"}}, schema()}}};
          }};
}

FieldTable<LowRank> low_rank_fields(const std::string& approximated) {
  return FieldTable<LowRank>{}
      .field("rank", &LowRank::rank, integer(1, 4096),
             "Number of columns of the factors; PowerSGD's paper uses 1 to 4")
      .field("error_feedback", &LowRank::error_feedback, boolean(),
             "Add the approximation's error to the next " + approximated)
      .field("warm_start", &LowRank::warm_start, boolean(),
             "Reuse the factor Q of the last average instead of drawing a new one")
      .field("allreduce", &LowRank::allreduce, allreduce_kind(), "Algorithm of the allreduces");
}

FieldTable<Quorum> quorum_fields() {
  return FieldTable<Quorum>{}
      .field("quorum", &Quorum::workers, integer(0),
             "Workers with which a round can close without the others; 0: it waits for all workers")
      .field("grace", &Quorum::grace_s, quantity(Dimension::duration),
             "How long a round waits for other workers once the quorum is there")
      .only_where([](const Quorum& quorum) { return quorum.workers > 0; },
                  "has no effect here; expected a \"quorum\" above 0 beside it");
}

void check_quorum(const Quorum& quorum, const Execution& execution, const Layout& layout,
                  const std::string& pointer) {
  const std::string at = child(pointer, "quorum");
  if (quorum.workers > layout.ranks())
    throw ConfigError(at, fmt::format("expected at most {}, the number of workers, not {}",
                                      layout.ranks(), quorum.workers));
  if (quorum.workers > 0 && execution.hierarchical)
    throw ConfigError(
        at,
        "workers of a hierarchical average wait for the leader of their node; expected "
        "0, or \"hierarchical\": false");
}

}  // namespace trigram
