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
/// thread may call it.
class Groups {
 public:
  MpiGroup& add(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                MPI_Comm messages);
  /// The group of the main stream, which is added first.
  MpiGroup& main() { return groups_.front(); }
  void deliver(int source, const ControlMessage& control);
  /// Makes every stream evaluate the condition of its wait again.
  void poke();
  /// The states of the streams of this process.
  host::StreamSnapshot snapshot();
  /// Frees the MPI communicators. Call it when the streams have ended.
  void free();

 private:
  std::mutex mutex_;
  std::deque<MpiGroup> groups_;
  std::map<std::int64_t, MpiGroup*> by_id_;
  std::map<std::int64_t, std::vector<std::pair<int, ControlMessage>>> early_;
};

}  // namespace trigram::mpi
