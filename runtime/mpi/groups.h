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

/// The streams of a process, and control messages for those that it has not forked yet. Any thread
/// may call it.
class Groups {
 public:
  MpiGroup& add(MpiWorld& world, const std::string& name, std::int64_t id, MPI_Comm comm,
                MPI_Comm messages);
  /// The main stream's: the first.
  MpiGroup& main() { return groups_.front(); }
  void deliver(int source, const ControlMessage& control);
  /// Makes every stream evaluate again what it waits for.
  void poke();
  /// What the streams do.
  host::StreamSnapshot snapshot();
  /// Gives back what MPI has for them, when they have ended.
  void free();

 private:
  std::mutex mutex_;
  std::deque<MpiGroup> groups_;
  std::map<std::int64_t, MpiGroup*> by_id_;
  std::map<std::int64_t, std::vector<std::pair<int, ControlMessage>>> early_;
};

}  // namespace trigram::mpi
