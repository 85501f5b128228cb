#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/control.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/watchdog.h"
#include "runtime/host/world.h"
#include "runtime/mpi/control_channel.h"

namespace trigram::mpi {

class MpiGroup;
class MpiWorld;

/// Control messages of streams travel through the world's control channel.
class MpiControl final : public Control {
 public:
  MpiControl(MpiWorld& world, const MpiGroup& group, host::Endpoint& self)
      : world_(world), group_(group), self_(self) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override;
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override;

 private:
  MpiWorld& world_;
  const MpiGroup& group_;
  host::Endpoint& self_;
};

/// The same-named streams of all ranks, of which this process hosts one.
class MpiGroup final : public host::Group {
 public:
  /// `data_comm` carries tensors; forks use `comm`. The two are equal, except for a group that
  /// sends to another group (fork_one_way): its `data_comm` is that group's communicator.
  MpiGroup(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
           MPI_Comm data_comm);
  host::Endpoint& at(int rank) override;
  std::unique_ptr<Communicator> communicator(host::Endpoint& self) override;
  std::unique_ptr<Control> control(host::Endpoint& self) override;
  void flush(Communicator& communicator) override;
  /// A number that is the same on all ranks, in whatever order they fork.
  std::int64_t id() const { return id_; }
  MPI_Comm comm() const { return comm_; }
  MPI_Comm data_comm() const { return data_comm_; }
  host::Endpoint& endpoint() { return endpoint_; }

 private:
  MpiWorld& world_;
  const std::int64_t id_;
  const MPI_Comm comm_, data_comm_;
  host::Endpoint endpoint_;
};

/// The streams of a process, and the control messages for streams that it has not forked yet. Any
/// thread may call `add`, `deliver`, `wake_waiters` and `snapshot`.
class Groups {
 public:
  /// Adds a stream and delivers the control messages that have arrived for it early. `id` must be
  /// new; see MpiGroup for the communicators. The reference stays valid as long as this object.
  MpiGroup& add(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                MPI_Comm data_comm);
  /// The group of the main stream. Requires that it has been added, before all others.
  MpiGroup& main() { return groups_.front(); }
  /// Delivers a control message from rank `source` to the stream `control.stream`, or keeps it
  /// until that stream is added. The caller must deliver the messages of a source in their order.
  void deliver(int source, const ControlMessage& control);
  /// Makes every blocked stream evaluate the condition of its wait again.
  void wake_waiters();
  /// The present states of all streams of this process.
  host::StreamSnapshot snapshot();
  /// Frees the communicator `comm` of every group. Call it once, after all streams have ended.
  void free();

 private:
  std::mutex mutex_;
  std::deque<MpiGroup> groups_;
  std::map<std::int64_t, MpiGroup*> by_id_;
  std::map<std::int64_t, std::vector<std::pair<int, ControlMessage>>> early_;
};

}  // namespace trigram::mpi
