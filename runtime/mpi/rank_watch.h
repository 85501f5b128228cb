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

/// A look on its way to another process: a message, clipped to what leaves at once.
ControlMessage message_of(const host::StreamSnapshot& look);
host::StreamSnapshot snapshot_from(const ControlMessage& message);

/// What one rank knows of the others' streams, and when it last heard of each rank. Any thread may
/// call it.
class RankWatch {
 public:
  RankWatch(int ranks, double watchdog_s);

  /// Looks are taken, and sent, this far apart.
  std::chrono::duration<double> interval() const { return watchdog_.interval(); }
  /// How long a rank may be silent. Not less than a few seconds: ranks may have to share cores.
  static double longest_silence_s(double watchdog_s) { return std::max(watchdog_s, 5.0); }
  double longest_silence_s() const { return longest_silence_s_; }

  /// The thread that judges others turns: often, unless this process is stopped, which does not
  /// count as their silence.
  void turn();
  void hear(int rank, const host::StreamSnapshot& look);
  /// The error of a world that hangs, as all ranks' looks say; empty while it does not, or while
  /// what is known of some rank is old.
  std::optional<HangError> hang();
  /// The first of the ranks [first, last) that has been silent for too long.
  std::optional<int> silent(int first, int last);
  /// What all streams that are known of wait for.
  std::vector<std::string> blocked();

 private:
  struct Heard {
    host::StreamSnapshot look;
    host::Clock::duration at{0};  // by the time awake
  };
  host::StreamSnapshot all() const;

  std::mutex mutex_;
  host::Watchdog watchdog_;
  const double longest_silence_s_;
  host::Awake awake_;
  std::vector<Heard> heard_;  // by rank
};

}  // namespace trigram::mpi
