#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime.h"
#include "runtime/host/watchdog.h"
#include "runtime/mpi/control_channel.h"

namespace trigram::mpi {

/// Converts a snapshot to a message and back. The text is truncated so that MPI sends the message
/// eagerly.
ControlMessage message_of(const host::StreamSnapshot& snapshot);
host::StreamSnapshot snapshot_from(const ControlMessage& message);

/// The knowledge of one rank about the other ranks' streams, and the times at which it last heard
/// from each rank. Any thread may call this class.
class RankWatch {
 public:
  RankWatch(int ranks, double watchdog_s);

  /// Time between the snapshots that a rank takes and sends.
  std::chrono::duration<double> interval() const { return watchdog_.interval(); }
  /// How long a rank may be silent before the job is aborted. At least 5 s, because ranks may share
  /// cores.
  static double longest_silence_s(double watchdog_s) { return std::max(watchdog_s, 5.0); }
  double longest_silence_s() const { return longest_silence_s_; }

  /// The thread that judges other ranks must call it often. Time in which this process was stopped
  /// does not count as their silence.
  void update_clock();
  void record(int rank, const host::StreamSnapshot& snapshot);
  /// The error of a world that hangs according to the snapshots of all ranks. Empty while it does
  /// not hang, or while the snapshot of some rank is old.
  std::optional<HangError> hang();
  /// The first rank in [first, last) that has been silent for too long, if there is one.
  std::optional<int> silent(int first, int last);
  /// One line for each stream that is known to be blocked, with the event for which it waits.
  std::vector<std::string> blocked();

 private:
  struct LastSnapshot {
    host::StreamSnapshot snapshot;
    host::Clock::duration at{0};  // in awake time
  };
  host::StreamSnapshot all() const;

  std::mutex mutex_;
  host::Watchdog watchdog_;
  const double longest_silence_s_;
  host::AwakeClock awake_;
  std::vector<LastSnapshot> last_;  // by rank
};

}  // namespace trigram::mpi
