#include "runtime/sim/sim_runtime.h"

namespace trigram {

FieldTable<SimOptions> sim_fields() {
  using Model = SimOptions::NetworkModel;
  using Protocol = SimOptions::Protocol;
  return FieldTable<SimOptions>{}
      .field("network_model", &SimOptions::network_model,
             one_of<Model>({{"alpha_beta", Model::alpha_beta}, {"tcp", Model::tcp}}),
             "alpha_beta: latency + bytes / bandwidth with fair sharing; tcp: SimGrid's LV08")
      .field("protocol", &SimOptions::protocol,
             one_of<Protocol>({{"rendezvous", Protocol::rendezvous}, {"eager", Protocol::eager}}),
             "rendezvous: bytes flow once both sides are there; eager: as soon as they are sent");
}

}  // namespace trigram
