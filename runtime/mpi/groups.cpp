#include "runtime/mpi/groups.h"

#include "core/check.h"
#include "runtime/host/endpoint.h"
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/session.h"
#include "runtime/mpi/world.h"

namespace trigram::mpi {

void MpiControl::post(int dest, int tag, std::int64_t a, std::int64_t b) {
  host::check_post(self_, dest);
  if (dest == self_.rank) return host::deliver(self_, tag, {self_.rank, a, b});
  world_.send_with_latency(
      dest, {.kind = ControlMessage::control, .stream = group_.id(), .tag = tag, .a = a, .b = b});
}

std::optional<Message> MpiControl::receive(int tag) {
  if (auto message = poll(tag)) return message;  // avoids a wait for the thread that delivers
  return host::receive(self_, tag);
}

std::optional<Message> MpiControl::poll(int tag) {
  host::check_on_stream(self_);
  world_.control_channel().poll();
  return host::poll(self_, tag);
}

MpiGroup::MpiGroup(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                   MPI_Comm data_comm)
    : Group(name),
      world_(world),
      id_(id),
      comm_(comm),
      data_comm_(data_comm),
      endpoint_(world, this->name(), world.rank()) {}

host::Endpoint& MpiGroup::at(int rank) {
  TRIGRAM_CHECK(rank == endpoint_.rank, "rank {} is not of this process", rank);
  return endpoint_;
}

std::unique_ptr<Communicator> MpiGroup::communicator(host::Endpoint& self) {
  return std::make_unique<MpiCommunicator>(world_, data_comm_, self);
}

void MpiGroup::flush(Communicator& communicator) {
  static_cast<MpiCommunicator&>(communicator).flush();
}

std::unique_ptr<Control> MpiGroup::control(host::Endpoint& self) {
  return std::make_unique<MpiControl>(world_, *this, self);
}

namespace {

void deliver_to(MpiGroup& group, int source, const ControlMessage& message) {
  host::deliver(group.endpoint(), static_cast<int>(message.tag), {source, message.a, message.b});
}

}  // namespace

MpiGroup& Groups::add(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                      MPI_Comm data_comm) {
  std::lock_guard lock(mutex_);
  MpiGroup& group = groups_.emplace_back(world, name, id, comm, data_comm);
  by_id_[id] = &group;
  for (const auto& [source, message] : early_[id]) deliver_to(group, source, message);
  early_.erase(id);
  return group;
}

void Groups::deliver(int source, const ControlMessage& control) {
  std::lock_guard lock(mutex_);
  const auto found = by_id_.find(control.stream);
  if (found == by_id_.end()) early_[control.stream].push_back({source, control});
  else deliver_to(*found->second, source, control);
}

void Groups::wake_waiters() {
  std::lock_guard lock(mutex_);
  for (MpiGroup& group : groups_) group.endpoint().poke();
}

host::StreamSnapshot Groups::snapshot() {
  host::StreamSnapshot seen;
  std::lock_guard lock(mutex_);
  for (MpiGroup& group : groups_) seen.add(group.endpoint());
  return seen;
}

void Groups::free() {
  for (MpiGroup& group : groups_) {
    MPI_Comm comm = group.comm();
    check(MPI_Comm_free(&comm), "MPI_Comm_free");
  }
}

}  // namespace trigram::mpi
