#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/mpi/control_channel.h"

namespace trigram::mpi {

/// The knowledge of one process about the end of the world: which ranks have ended, whether the
/// world has failed, and why. Messages of different ranks are not ordered, so a failure may become
/// known before its cause. Any thread may call this class.
class Ending {
 public:
  using Seconds = std::chrono::duration<double>;
  Ending(int self, int ranks);

  /// Records that this rank fails. `error` is null if the error is not known yet. Returns true if
  /// the other ranks have to be informed.
  bool fail(std::exception_ptr error);
  void record_failure(int source, const std::string& error);
  /// The message in which this rank tells the others that it has ended.
  ControlMessage end_message(bool failed);
  void record_end(int source, const ControlMessage& message);

  /// True when all ranks have ended. If the world has failed, also requires that the cause is
  /// known, or cannot become known any more.
  bool all_known();
  /// Waits until all_known() holds, for at most `longest`. Returns all_known().
  bool wait_until_all_known(Seconds longest);
  /// The ranks that have not ended.
  std::vector<int> missing();
  /// The error of the lowest rank that has reported one, which is the same on all ranks; null if no
  /// rank has.
  std::exception_ptr first_error();

  /// Tells the threads of the world to finish.
  void stop();
  bool stopped();
  bool wait_until_stopped(Seconds longest);

 private:
  bool knows_all() const;

  const int self_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::exception_ptr own_error_;
  std::vector<std::string> errors_;  // by rank, serialized
  std::vector<bool> ended_;          // by rank
  bool failure_known_ = false, cause_known_ = false;
  bool announced_ = false;  // the other ranks know that this rank fails
  bool stopped_ = false;
};

}  // namespace trigram::mpi
