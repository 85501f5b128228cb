#include "runtime/mpi/groups.h"

#include "runtime/host/inbox.h"
#include "runtime/mpi/session.h"

namespace trigram::mpi {
namespace {

void hand_over(MpiGroup& group, int source, const ControlMessage& message) {
  host::deliver(group.endpoint(), static_cast<int>(message.tag), {source, message.a, message.b});
}

}  // namespace

MpiGroup& Groups::add(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                      MPI_Comm data_comm) {
  std::lock_guard lock(mutex_);
  MpiGroup& group = groups_.emplace_back(world, name, id, comm, data_comm);
  by_id_[id] = &group;
  for (const auto& [source, message] : early_[id]) hand_over(group, source, message);
  early_.erase(id);
  return group;
}

void Groups::deliver(int source, const ControlMessage& control) {
  std::lock_guard lock(mutex_);
  const auto found = by_id_.find(control.stream);
  if (found == by_id_.end()) early_[control.stream].push_back({source, control});
  else hand_over(*found->second, source, control);
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
