#include "algorithms/options.h"

namespace trigram {

Kind<AllreduceAlgorithm> allreduce_kind() {
  return one_of<AllreduceAlgorithm>({{"ring", AllreduceAlgorithm::ring},
                                     {"recursive_doubling", AllreduceAlgorithm::recursive_doubling},
                                     {"rabenseifner", AllreduceAlgorithm::rabenseifner}});
}

Kind<AllreduceAlgorithm> group_allreduce_kind() {
  return one_of<AllreduceAlgorithm>({{"butterfly", AllreduceAlgorithm::recursive_doubling},
                                     {"ring", AllreduceAlgorithm::ring},
                                     {"rabenseifner", AllreduceAlgorithm::rabenseifner}});
}

Kind<std::optional<CodecSpec>> optional_codec_kind() {
  const Kind<CodecSpec> codec = codec_kind();
  return {[codec](const Json& j, const std::string& pointer) -> std::optional<CodecSpec> {
            if (j == "none") return std::nullopt;
            return codec.parse(j, pointer);
          },
          [codec](const std::optional<CodecSpec>& spec) -> Json {
            return spec ? codec.dump(*spec) : Json("none");
          },
          {{"anyOf", {{{"const", "none"}}, codec.schema}}}};
}

}  // namespace trigram
