#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

#include "runtime/host/clock.h"

namespace trigram::mpi {

/// An MPI call that failed.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MpiError with MPI's error text unless `code` is MPI_SUCCESS.
void check(int code, const char* call);

/// Polls until `request` is complete. It is for operations of all processes outside a world. After
/// `timeout_s` seconds it aborts the job and names the processes that do not answer.
void await_or_abort(MPI_Request& request, double timeout_s);

/// MPI in this process. It is initialised on first use with MPI_THREAD_MULTIPLE, and finalised when
/// the process exits. Throws MpiError if the library does not provide that thread level. A Deadline
/// bounds the two calls that block: MPI_Init_thread, in which processes wait until all have started
/// and read their input, and MPI_Finalize.
class Session {
 public:
  /// The session of this process. Its first use aborts the job unless the other processes arrive
  /// within `timeout_s` seconds. MPI_Init_thread and MPI_Finalize may take 120 s if `timeout_s` is
  /// that of the default watchdog; otherwise `timeout_s`, but at least 15 s.
  static Session& get(double timeout_s);
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// A communicator of all processes that returns errors. It is for use outside worlds; worlds use
  /// duplicates of it.
  MPI_Comm base() const { return base_; }
  /// Duplicates base(). All processes must call it. Aborts the job as `await_or_abort` does.
  MPI_Comm duplicate(double timeout_s) const;
  /// A barrier of all processes. After `timeout_s` seconds it aborts the job and names the
  /// processes that have not called it.
  void barrier(double timeout_s);
  /// Prints `message` and ends all processes of the job.
  [[noreturn]] void abort(const std::string& message, int exit_code);

 private:
  explicit Session(double timeout_s);
  int rank_ = 0, size_ = 1;
  MPI_Comm base_ = MPI_COMM_NULL;
};

/// The zero of a world's clock, chosen so that times of different ranks can be compared. Ranks on
/// the machine of rank 0 share its clock and use the time at which rank 0 called this function.
/// Ranks on other machines use the time at which rank 0's message arrived, so their zero is late by
/// the latency of that message. All ranks of `comm` must call it. If some do not within
/// `timeout_s`, the job is aborted as by await_or_abort.
host::Clock::time_point common_zero(MPI_Comm comm, double timeout_s);

}  // namespace trigram::mpi
