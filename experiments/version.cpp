#include "experiments/version.h"

#include "algorithms/registry.h"
#include "experiments/sha256.h"

namespace trigram {

Version version() {
  Version v = built_version();
  if (!has_added_algorithms()) return v;
  static const std::string program = sha256_of_file("/proc/self/exe");
  v.git += "+" + program.substr(0, 8);
  return v;
}

}  // namespace trigram
