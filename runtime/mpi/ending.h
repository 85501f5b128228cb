#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/mpi/control_channel.h"

namespace trigram::mpi {

/// How a world ends, as far as one process knows: which ranks have ended, whether the world has
/// failed, and why. Letters of different ranks overtake one another, so that a failure may be heard
/// of before its reason. Any thread may call it.
class Ending {
 public:
  using Seconds = std::chrono::duration<double>;
  Ending(int self, int ranks);

  /// This rank fails, with its reason, or with null while that is still to come. True if the others
  /// do not know it yet.
  bool fail(std::exception_ptr error);
  void hear_of_failure(int source, const std::string& error);
  /// What this rank has to say when it has ended.
  ControlMessage own_end(bool failed);
  void hear_of_end(int source, const ControlMessage& message);

  /// True when all ranks have ended and why the world has failed, if it has, is known as far as it
  /// ever will be.
  bool all_is_known();
  bool wait_until_all_is_known(Seconds longest);
  /// Those that have not ended.
  std::vector<int> missing();
  /// That of the first rank that has one, on all ranks alike; null if none has.
  std::exception_ptr first_error();

  /// Tells the threads of the world that there is nothing left to do.
  void stop();
  bool stopped();
  bool wait_until_stopped(Seconds longest);

 private:
  bool all_known() const;

  const int self_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable news_;
  std::exception_ptr own_error_;
  std::vector<std::string> errors_;  // by rank, as bytes
  std::vector<bool> ended_;          // by rank
  bool failure_known_ = false, cause_known_ = false;
  bool announced_ = false;  // to the others, that this rank fails
  bool stopped_ = false;
};

}  // namespace trigram::mpi
