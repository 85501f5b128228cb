// This file takes the place of the simulated world if the build has no SimGrid.
#include "runtime/sim/sim_runtime.h"

namespace trigram {

bool sim_available() { return false; }

std::string sim_unavailable_reason() {
  return "this build has no simulated world: install SimGrid (Debian: apt install libsimgrid-dev) "
         "and configure with -DTRIGRAM_WITH_SIM=ON";
}

std::unique_ptr<SimulatedRuntime> make_sim_runtime(const SimOptions&, const Cluster&) {
  throw ConfigError("/runtime", sim_unavailable_reason());
}

}  // namespace trigram
