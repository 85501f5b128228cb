#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace trigram::mpi {

/// For a call of MPI that blocks and has no other form: unless this is destroyed within
/// `patience_s`, it ends the process with a line that names `call`, and exit code 124, on which the
/// launcher ends the others. Time in which the process was stopped does not count.
class Deadline {
 public:
  Deadline(std::string call, int rank, double patience_s);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  void watch(double patience_s);

  const std::string call_;
  const int rank_;
  std::mutex mutex_;
  std::condition_variable news_;
  bool over_ = false;
  std::thread watching_;
};

}  // namespace trigram::mpi
