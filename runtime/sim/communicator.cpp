#include "runtime/sim/communicator.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "runtime/sim/fluid.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {

int SimCommunicator::rank() const { return stream_.rank(); }

int SimCommunicator::size() const { return stream_.world().layout().ranks(); }

void SimCommunicator::transfer(std::span<const Transfer> batch) {
  stream_.check_current();
  FluidCollectives* fluid = stream_.world().fluid();
  if (fluid && stream_.untimed()) return fluid->untimed().transfer(stream_, batch);
  stream_.spend(overhead_s(batch));
  stream_.settle();
  const bool few = batch.size() <= few_.size() && !few_abandoned_;
  std::unique_ptr<InFlight[]> many;
  if (!few) many = std::make_unique<InFlight[]>(batch.size());
  try {
    run(batch, few ? few_.data() : many.get());
  } catch (...) {
    if (few) few_abandoned_ = true;
    else abandoned_.push_back(std::move(many));
    stream_.set_wait({});
    throw;
  }
  if (fluid) fluid->flows().batch_ends(rank(), batch);
}

void SimCommunicator::coupled(const Rounds& rounds, const std::function<void()>& messages) {
  stream_.check_current();
  FluidCollectives* fluid = stream_.world().fluid();
  if (!fluid || stream_.untimed() || !fluid->make(stream_, rounds, messages)) messages();
}

bool SimCommunicator::couples() const { return stream_.world().fluid() != nullptr; }

bool SimCommunicator::untimed() const { return stream_.untimed(); }

double SimCommunicator::overhead_s(std::span<const Transfer> batch) const {
  const Transport& transport = stream_.world().cluster().transport;
  if (transport.message_overhead_s == 0 && transport.stage_overhead_s == 0 &&
      transport.stream_overhead_s == 0)
    return 0;
  int messages = 0;
  for (const Transfer& t : batch)
    messages += t.kind == Transfer::send && !stream_.world().layout().same_node(rank(), t.peer);
  return transport.overhead_s(messages);
}

std::uint64_t SimCommunicator::wire_bytes(const Transfer& transfer) const {
  const std::uint64_t nbytes = transfer.tensor.priced_nbytes();
  if (transfer.pattern == Pattern::collective) return nbytes;
  const double share = stream_.world().cluster().transport.efficiency.of(transfer.pattern);
  if (share == 1 || stream_.world().layout().same_node(rank(), transfer.peer)) return nbytes;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(nbytes) / share));
}

double SimCommunicator::message_cap_Bps(const Transfer& transfer) const {
  World& world = stream_.world();
  const Transport& transport = world.cluster().transport;
  const bool by_pattern = transport.channels > 1 && !is_collective(transfer.pattern);
  if (!by_pattern && !transport.limits_messages()) return 0;
  if (transfer.peer == rank() || world.layout().same_node(rank(), transfer.peer)) return 0;
  const double cap_Bps =
      world.network().message_cap(rank(), transfer.peer, transfer.pattern,
                                  static_cast<double>(transfer.tensor.priced_nbytes()));
  return std::isfinite(cap_Bps) ? cap_Bps : 0;
}

void SimCommunicator::start(std::span<const Transfer> batch, InFlight* in_flight) {
  // Receives first: a message that finds its receiver waiting costs SimGrid less.
  for (const auto kind : {Transfer::recv, Transfer::send})
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (batch[i].kind == kind) in_flight[i].comm->start();
}

void SimCommunicator::tell(Overlap& overlap, std::span<const Transfer> batch) {
  for (const Transfer& t : batch) {
    if (t.peer == rank()) continue;
    const bool sends = t.kind == Transfer::send;
    overlap.started(sends ? &mailbox_to(t.peer) : &mailbox_from(t.peer), sends, rank(), t.peer);
  }
}

void SimCommunicator::run(std::span<const Transfer> batch, InFlight* in_flight) {
  for (std::size_t i = 0; i < batch.size(); ++i) prepare(batch[i], in_flight[i]);
  if (FluidCollectives* fluid = stream_.world().fluid()) fluid->flows().batch_starts(rank(), batch);
  Simulation::in_one_switch([&] { start(batch, in_flight); });
  if (Overlap* overlap = stream_.world().overlap()) tell(*overlap, batch);
  for (std::size_t i = 0; i < batch.size(); ++i) finish(batch[i], in_flight[i]);
  stream_.set_wait({});
}

void SimCommunicator::prepare(const Transfer& transfer, InFlight& in_flight) {
  Parcel*& parcel = in_flight.parcel;
  if (transfer.kind == Transfer::recv) {
    in_flight.comm = mailbox_from(transfer.peer).get_init();
    in_flight.comm->set_dst_data(reinterpret_cast<void**>(&parcel), sizeof parcel);
  } else {
    auto& box = mailbox_to(transfer.peer);
    parcel = stream_.world().parcels().take();
    parcel->pack(transfer.tensor);
    in_flight.comm = box.put_init(parcel, wire_bytes(transfer));
    if (const double cap_Bps = message_cap_Bps(transfer); cap_Bps > 0)
      in_flight.comm->set_rate(cap_Bps);
  }
}

void SimCommunicator::finish(const Transfer& transfer, InFlight& in_flight) {
  World& world = stream_.world();
  const bool receiving = transfer.kind == Transfer::recv;
  stream_.set_wait({.kind = receiving ? Wait::message : Wait::receiver, .peer = transfer.peer});
  in_flight.comm->wait();
  in_flight.comm.reset();
  world.halt_if_ended();
  if (world.overlap() && transfer.peer != rank()) world.overlap()->arrived(rank());
  if (!receiving) return;
  Parcel& parcel = *in_flight.parcel;
  if (!parcel.fits(transfer.tensor))
    check_match(parcel.shape(), transfer.peer, transfer.tensor, rank(), stream_.name());
  parcel.unpack(transfer.tensor);
  world.parcels().give_back(&parcel);
}

simgrid::s4u::Mailbox& SimCommunicator::look_up(Mailboxes& mailboxes, int peer, int source,
                                                int destination) {
  auto& box = mailboxes.by_peer[peer];
  if (!box) {
    World& world = stream_.world();
    check_peer(rank(), peer, size(), stream_.name());
    box =
        simgrid::s4u::Mailbox::by_name(fmt::format("{}/{}/{}", stream_.id(), source, destination));
    // A permanent receiver takes messages before they are asked for.
    if (world.eager()) box->set_receiver(world.main_actor(destination));
  }
  mailboxes.last_peer = peer;
  mailboxes.last = box;
  return *box;
}

}  // namespace trigram::sim
