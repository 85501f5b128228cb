#include "algorithms/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace trigram {

Kind<AllreduceAlgorithm> allreduce_kind() {
  return one_of<AllreduceAlgorithm>({{"ring", AllreduceAlgorithm::ring},
                                     {"recursive_doubling", AllreduceAlgorithm::recursive_doubling},
                                     {"rabenseifner", AllreduceAlgorithm::rabenseifner},
                                     {"native", AllreduceAlgorithm::native}});
}

Kind<AllreduceAlgorithm> group_allreduce_kind() {
  return one_of<AllreduceAlgorithm>({{"butterfly", AllreduceAlgorithm::recursive_doubling},
                                     {"ring", AllreduceAlgorithm::ring},
                                     {"rabenseifner", AllreduceAlgorithm::rabenseifner}});
}

void require_contraction(const CodecSpec& codec, const std::string& pointer) {
  if (!contracts(codec))
    throw ConfigError(
        pointer, fmt::format("what {} loses with these options can be more than what it is given, "
                             "and is coded again (error feedback); expected a code that loses less "
                             "than all, such as randk with \"unbiased\": false, or qsgd with more "
                             "levels or smaller buckets",
                             codec.name));
}

Kind<CodecSpec> contraction_kind() {
  Kind<CodecSpec> kind = codec_kind();
  kind.parse = [parse = kind.parse](const Json& j, const std::string& pointer) {
    CodecSpec codec = parse(j, pointer);
    require_contraction(codec, pointer);
    return codec;
  };
  return kind;
}

Kind<std::optional<CodecSpec>> optional_codec_kind() {
  const Kind<CodecSpec> codec = contraction_kind();
  std::vector<std::string> names = {"none"};
  for (const CodecEntry& entry : codecs()) names.push_back(entry.name);
  return {[codec, names](const Json& j, const std::string& pointer) -> std::optional<CodecSpec> {
            if (j == "none") return std::nullopt;
            const bool named = j.is_string() || (j.is_object() && j.contains("name"));
            if (!named || j == Json{{"name", "none"}})
              wrong_type(pointer, "\"none\", or a codec by its name", j);
            const std::string name = component_name(j, pointer);
            if (std::find(names.begin(), names.end(), name) == names.end())
              unknown_name(j.is_string() ? pointer : child(pointer, "name"), "codec", name, names);
            return codec.parse(j, pointer);
          },
          [codec](const std::optional<CodecSpec>& spec) -> Json {
            return spec ? codec.dump(*spec) : Json("none");
          },
          {{"anyOf", {{{"const", "none"}}, codec.schema}}}};
}

}  // namespace trigram
