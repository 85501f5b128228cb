#include "experiments/cli/places.h"

namespace trigram {

std::filesystem::path data_folder() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share" / "trigram";
}

}  // namespace trigram
