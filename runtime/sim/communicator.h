#pragma once

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <unordered_map>

#include "core/communicator.h"
#include "runtime/sim/parcel.h"

namespace trigram::sim {

class SimStream;

/// Messages between same-named streams, through one mailbox for each (stream, source, destination);
/// the priced bytes are what the network carries.
class SimCommunicator final : public Communicator {
 public:
  explicit SimCommunicator(SimStream& stream) : stream_(stream) {}
  int rank() const override;
  int size() const override;
  void transfer(std::span<const Transfer> batch) override;

 private:
  struct InFlight {
    simgrid::s4u::CommPtr comm;
    Parcel* parcel = nullptr;
  };
  using Mailboxes = std::unordered_map<int, simgrid::s4u::Mailbox*>;  // by peer

  void run(std::span<const Transfer> batch, InFlight* in_flight);
  void start_receive(const Transfer& transfer, InFlight& in_flight);
  void start_send(const Transfer& transfer, InFlight& in_flight);
  void finish(const Transfer& transfer, InFlight& in_flight);
  simgrid::s4u::Mailbox& mailbox(Mailboxes& cache, int peer, int source, int destination);

  SimStream& stream_;
  Mailboxes inward_, outward_;
};

}  // namespace trigram::sim
