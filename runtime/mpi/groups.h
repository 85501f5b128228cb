#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/host/watchdog.h"
#include "runtime/mpi/control_channel.h"
#include "runtime/mpi/group.h"

namespace trigram::mpi {

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
