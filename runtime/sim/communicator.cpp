#include "runtime/sim/communicator.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "runtime/sim/stream.h"

namespace trigram::sim {

int SimCommunicator::rank() const { return stream_.rank(); }

int SimCommunicator::size() const { return stream_.world().layout().ranks(); }

void SimCommunicator::transfer(std::span<const Transfer> batch) {
  stream_.check_current();
  stream_.settle();
  constexpr std::size_t kSmallBatch = 4;
  if (batch.size() <= kSmallBatch) {
    std::array<InFlight, kSmallBatch> in_flight;
    run(batch, in_flight.data());
  } else {
    std::vector<InFlight> in_flight(batch.size());
    run(batch, in_flight.data());
  }
}

void SimCommunicator::run(std::span<const Transfer> batch, InFlight* in_flight) {
  // Receives first: a message that finds its receiver waiting costs SimGrid less.
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].kind == Transfer::recv) start_receive(batch[i], in_flight[i]);
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].kind == Transfer::send) start_send(batch[i], in_flight[i]);
  for (std::size_t i = 0; i < batch.size(); ++i) finish(batch[i], in_flight[i]);
}

void SimCommunicator::start_receive(const Transfer& transfer, InFlight& in_flight) {
  auto& box = mailbox(inward_, transfer.peer, transfer.peer, rank());
  in_flight.comm = box.get_async<Parcel>(&in_flight.parcel);
}

void SimCommunicator::start_send(const Transfer& transfer, InFlight& in_flight) {
  auto& box = mailbox(outward_, transfer.peer, rank(), transfer.peer);
  in_flight.parcel = stream_.world().parcels().take();
  in_flight.parcel->pack(transfer.tensor);
  in_flight.comm = box.put_async(in_flight.parcel, transfer.tensor.priced_nbytes());
}

void SimCommunicator::finish(const Transfer& transfer, InFlight& in_flight) {
  const bool receiving = transfer.kind == Transfer::recv;
  stream_.set_wait({.kind = receiving ? Wait::message : Wait::receiver, .peer = transfer.peer});
  in_flight.comm->wait();
  stream_.world().halt_if_ended();
  stream_.set_wait({});
  if (!receiving) return;
  check_match(in_flight.parcel->shape(), transfer.peer, transfer.tensor, rank(), stream_.name());
  in_flight.parcel->unpack(transfer.tensor);
  stream_.world().parcels().give_back(in_flight.parcel);
}

simgrid::s4u::Mailbox& SimCommunicator::mailbox(Mailboxes& cache, int peer, int source,
                                                int destination) {
  auto& box = cache[peer];
  if (!box) {
    World& world = stream_.world();
    check_peer(rank(), peer, size(), stream_.name());
    box =
        simgrid::s4u::Mailbox::by_name(fmt::format("{}/{}/{}", stream_.id(), source, destination));
    // A permanent receiver takes messages before they are asked for.
    if (world.eager()) box->set_receiver(world.main_actor(destination));
  }
  return *box;
}

}  // namespace trigram::sim
