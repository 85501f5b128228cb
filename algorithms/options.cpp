#include "algorithms/options.h"

#include "core/codecs/registry.h"

namespace trigram {

Kind<AllreduceAlgorithm> allreduce_kind() {
  return one_of<AllreduceAlgorithm>({{"ring", AllreduceAlgorithm::ring},
                                     {"recursive_doubling", AllreduceAlgorithm::recursive_doubling},
                                     {"rabenseifner", AllreduceAlgorithm::rabenseifner}});
}

Kind<std::string> codec_name() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const CodecEntry& codec : codecs()) names.emplace_back(codec.name, codec.name);
  return one_of(std::move(names));
}

}  // namespace trigram
