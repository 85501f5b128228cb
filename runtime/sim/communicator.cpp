#include "runtime/sim/communicator.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"
#include "runtime/sim/fluid/fluid_collectives.h"
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
  const bool small = batch.size() <= small_batch_.size() && !small_batch_abandoned_;
  std::unique_ptr<InFlight[]> large;
  if (!small) large = std::make_unique<InFlight[]>(batch.size());
  try {
    run(batch, small ? small_batch_.data() : large.get());
  } catch (...) {
    if (small) small_batch_abandoned_ = true;
    else abandoned_.push_back(std::move(large));
    stream_.set_wait({});
    throw;
  }
}

void SimPricer::price(const CollectivePattern& pattern, const Messages& messages) {
  stream_.check_current();
  // Inside a priced collective, collectives take no time.
  if (stream_.untimed()) return messages(false);
  if (!fluid_.run(stream_, pattern, [&] { messages(false); })) messages(true);
}

CollectivePricer* SimCommunicator::pricer() {
  FluidCollectives* fluid = stream_.world().fluid();
  if (!fluid || stream_.one_way()) return nullptr;
  if (!pricer_) pricer_.emplace(stream_, *fluid);
  return &*pricer_;
}

std::int64_t SimCommunicator::buffered(std::size_t nbytes) const {
  if (!stream_.world().eager()) return 0;
  return stream_.world().cluster().transport.max_buffered_messages(static_cast<double>(nbytes),
                                                                   TrafficClass::point_to_point);
}

double SimCommunicator::overhead_s(std::span<const Transfer> batch) const {
  const Transport& transport = stream_.world().cluster().transport;
  if (transport.overhead_s(1) == 0) return 0;
  int messages = 0;
  for (const Transfer& t : batch)
    messages += t.kind == Transfer::send && !stream_.world().layout().same_node(rank(), t.peer);
  if (stream_.world().eager()) return messages > 0 ? transport.stage_overhead_s : 0;
  return transport.overhead_s(messages);
}

std::uint64_t SimCommunicator::wire_bytes(const Transfer& transfer) const {
  const std::uint64_t nbytes = transfer.tensor.priced_nbytes();
  if (transfer.traffic == TrafficClass::collective) return nbytes;
  const double share = stream_.world().cluster().transport.efficiency.share(transfer.traffic);
  if (share == 1 || stream_.world().layout().same_node(rank(), transfer.peer)) return nbytes;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(nbytes) / share));
}

double SimCommunicator::message_cap_Bps(const Transfer& transfer) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  World& world = stream_.world();
  const Transport& transport = world.cluster().transport;
  const bool by_pattern = transport.channels > 1 && !is_collective(transfer.traffic);
  if (!by_pattern && !transport.limits_messages()) return kNone;
  if (transfer.peer == rank() || world.layout().same_node(rank(), transfer.peer)) return kNone;
  return world.network().message_cap(rank(), transfer.peer, transfer.traffic,
                                     static_cast<double>(transfer.tensor.priced_nbytes()),
                                     world.rate());
}

void SimCommunicator::start(std::span<const Transfer> batch, InFlight* in_flight,
                            Transfer::Kind kind) {
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].kind == kind) in_flight[i].comm->start();
}

void SimCommunicator::report_starts(Overlap& overlap, std::span<const Transfer> batch) {
  for (const Transfer& t : batch) {
    if (t.peer == rank()) continue;
    const bool sends = t.kind == Transfer::send;
    overlap.started(sends ? &mailbox_to(t.peer, t.traffic) : &mailbox_from(t.peer, t.traffic),
                    sends, rank(), t.peer);
  }
}

void SimCommunicator::run(std::span<const Transfer> batch, InFlight* in_flight) {
  for (std::size_t i = 0; i < batch.size(); ++i) prepare(batch[i], in_flight[i]);
  if (stream_.world().eager()) run_eager(batch, in_flight);
  else run_rendezvous(batch, in_flight);
  stream_.set_wait({});
}

void SimCommunicator::run_rendezvous(std::span<const Transfer> batch, InFlight* in_flight) {
  // Receives are posted first: SimGrid handles a message faster if its receive is posted.
  Simulation::in_one_switch([&] {
    for (const auto kind : {Transfer::recv, Transfer::send}) start(batch, in_flight, kind);
  });
  Overlap* overlap = stream_.world().overlap();
  if (overlap) report_starts(*overlap, batch);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    finish(batch[i], in_flight[i]);
    if (overlap && batch[i].peer != rank()) overlap->arrived(rank());
  }
}

void SimCommunicator::run_eager(std::span<const Transfer> batch, InFlight* in_flight) {
  World& world = stream_.world();
  in_call_ = true;
  for (const Transfer& t : batch) {
    if (t.kind != Transfer::send) continue;
    connection_to(t.peer, t.traffic).forget_delivered();
    if (FluidCollectives* fluid = world.fluid()) fluid->flows().message_starts(rank(), t.peer);
    if (world.overlap() && t.peer != rank()) world.overlap()->sent(rank(), t.peer);
  }
  Simulation::in_one_switch([&] {
    start(batch, in_flight, Transfer::recv);
    if (world.announces()) post_receives(batch);
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (batch[i].kind == Transfer::send) send(batch[i], in_flight[i]);
    if (world.announces()) read_announcements(batch);
  });
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i].kind == Transfer::recv) finish(batch[i], in_flight[i]);
  for (const Transfer& t : batch) {
    if (t.kind != Transfer::send) continue;
    const Connection& connection = connection_to(t.peer, t.traffic);
    if (!connection.all_accepted())
      stream_.block({.kind = Wait::receiver, .peer = t.peer},
                    [&] { return connection.all_accepted(); });
  }
  in_call_ = false;
}

Rendezvous& SimCommunicator::rendezvous_of(const Transfer& receive) {
  return stream_.world().rendezvous(stream_.id(), receive.peer, rank(),
                                    receive.traffic == TrafficClass::answer);
}

/// Requests the messages whose announcements this rank has read, before this rank announces its own
/// messages.
void SimCommunicator::post_receives(std::span<const Transfer> batch) {
  for (const Transfer& t : batch)
    if (t.kind == Transfer::recv) rendezvous_of(t).post_receive(connection_to(t.peer, t.traffic));
}

void SimCommunicator::read_announcements(std::span<const Transfer> batch) {
  for (const Transfer& t : batch)
    if (t.kind == Transfer::recv) rendezvous_of(t).read();
}

void SimCommunicator::send(const Transfer& transfer, InFlight& in_flight) {
  connection_to(transfer.peer, transfer.traffic)
      .send({.comm = std::move(in_flight.comm),
             .nbytes = in_flight.parcel->held_bytes,
             .traffic = transfer.traffic,
             .cap_Bps = message_cap_Bps(transfer)});
}

void SimCommunicator::prepare(const Transfer& transfer, InFlight& in_flight) {
  Parcel*& parcel = in_flight.parcel;
  if (transfer.kind == Transfer::recv) {
    in_flight.comm = mailbox_from(transfer.peer, transfer.traffic).get_init();
    in_flight.comm->set_dst_data(reinterpret_cast<void**>(&parcel), sizeof parcel);
    return;
  }
  const bool eager = stream_.world().eager();
  auto& box = eager ? connection_to(transfer.peer, transfer.traffic).mailbox()
                    : mailbox_to(transfer.peer, transfer.traffic);
  const std::uint64_t nbytes = wire_bytes(transfer);
  parcel = stream_.world().parcels().take();
  parcel->pack(transfer.tensor);
  parcel->connection = eager ? &connection_to(transfer.peer, transfer.traffic) : nullptr;
  parcel->held_bytes = static_cast<double>(nbytes);
  in_flight.comm = box.put_init(parcel, nbytes);
  // If a message has no bytes and its mailbox has a permanent receiver, SimGrid treats it as
  // delivered when it is sent. This tiny size prevents that, and takes no time that a double could
  // represent.
  if (eager && nbytes == 0) in_flight.comm->set_remaining(1e-9);
  if (eager) return;
  if (const double cap_Bps = message_cap_Bps(transfer); std::isfinite(cap_Bps))
    in_flight.comm->set_rate(cap_Bps);
}

void SimCommunicator::finish(const Transfer& transfer, InFlight& in_flight) {
  World& world = stream_.world();
  const bool receiving = transfer.kind == Transfer::recv;
  stream_.set_wait({.kind = receiving ? Wait::message : Wait::receiver, .peer = transfer.peer});
  in_flight.comm->wait();
  in_flight.comm.reset();
  world.halt_if_ended();
  if (!receiving) return;
  Parcel& parcel = *in_flight.parcel;
  if (!parcel.fits(transfer.tensor))
    check_match(parcel.shape(), transfer.peer, transfer.tensor, rank(), stream_.name());
  parcel.unpack(transfer.tensor);
  Connection* const connection = parcel.connection;
  const double held_bytes = parcel.held_bytes;
  world.parcels().give_back(&parcel);  // other actors may reuse it before this actor continues
  if (!connection) return;
  if (FluidCollectives* fluid = world.fluid()) fluid->flows().message_ends(transfer.peer, rank());
  if (world.overlap() && transfer.peer != rank()) world.overlap()->received(transfer.peer, rank());
  connection->received(held_bytes);
}

Connection& SimCommunicator::connection_to(int peer, TrafficClass traffic) {
  const int key = this->key(peer, traffic);
  if (connections_.last_key == key) return *connections_.last;
  Connection*& known = connections_.all[key];
  if (!known)
    known = owned_
                .emplace_back(std::make_unique<Connection>(
                    stream_, peer, traffic == TrafficClass::answer, mailbox_to(peer, traffic)))
                .get();
  connections_.last_key = key;
  connections_.last = known;
  return *known;
}

void SimCommunicator::flush() {
  for (const auto& connection : owned_) connection->flush();
}

std::vector<int> SimCommunicator::ranks_yet_to_receive() const {
  std::vector<int> ranks;
  for (const auto& connection : owned_)
    if (connection->held() > 0) ranks.push_back(connection->destination());
  return ranks;
}

simgrid::s4u::Mailbox& SimCommunicator::look_up(ByPeer<simgrid::s4u::Mailbox>& mailboxes, int peer,
                                                TrafficClass traffic, bool outward) {
  const int key = this->key(peer, traffic);
  auto& box = mailboxes.all[key];
  if (!box) {
    World& world = stream_.world();
    check_peer(rank(), peer, size(), stream_.name());
    const int source = outward ? rank() : peer, destination = outward ? peer : rank();
    const Cluster& cluster = world.cluster();  // other jobs have other ranks of the whole cluster
    box = simgrid::s4u::Mailbox::by_name(fmt::format(
        "{}/{}/{}{}", outward ? stream_.receiver() : stream_.id(), cluster.whole_rank(source),
        cluster.whole_rank(destination), key % 2 ? "/answers" : ""));
    // A mailbox with a permanent receiver accepts messages before their receives are posted.
    if (world.eager()) box->set_receiver(world.main_actor(destination));
  }
  mailboxes.last_key = key;
  mailboxes.last = box;
  return *box;
}

}  // namespace trigram::sim
