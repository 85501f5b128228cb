#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace trigram::mpi {

/// Bounds a blocking MPI call that has no nonblocking form. If this object is not destroyed within
/// `timeout_s` seconds, it prints a line that names `call` and ends the process with exit code 124.
/// The launcher then ends the other processes. Time in which the process was stopped does not
/// count.
class Deadline {
 public:
  Deadline(std::string call, int rank, double timeout_s);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  void watch(double timeout_s);

  const std::string call_;
  const int rank_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace trigram::mpi
