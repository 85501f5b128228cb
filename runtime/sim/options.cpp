#include "runtime/sim/sim_runtime.h"

namespace trigram {

FieldTable<SimOptions> sim_fields() {
  using Model = SimOptions::NetworkModel;
  using Fidelity = SimOptions::Fidelity;
  return FieldTable<SimOptions>{}
      .field("network_model", &SimOptions::network_model,
             one_of<Model>({{"alpha_beta", Model::alpha_beta}, {"tcp", Model::tcp}}),
             "alpha_beta: latency + bytes / bandwidth with fair sharing; tcp: SimGrid's LV08")
      .refuse("protocol",
              "is now a property of the network; set /cluster/transport/protocol instead")
      .field("fidelity", &SimOptions::fidelity,
             one_of<Fidelity>({{"message", Fidelity::message},
                               {"fluid", Fidelity::fluid},
                               {"auto", Fidelity::automatic}}),
             "how collectives are simulated. message: every message; fluid: coupled flows, for "
             "many workers; auto: coupled flows where they take the same time");
}

void check_sim_options(const SimOptions& options, const std::string& pointer) {
  if (options.fidelity != SimOptions::Fidelity::fluid) return;
  if (options.network_model != SimOptions::NetworkModel::alpha_beta)
    throw ConfigError(
        child(pointer, "fidelity"),
        "coupled flows need network_model \"alpha_beta\"; expected \"message\" or \"auto\"");
}

}  // namespace trigram
