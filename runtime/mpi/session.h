#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace trigram::mpi {

/// A call of MPI that failed.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MpiError, with MPI's own words, unless `code` is MPI_SUCCESS.
void check(int code, const char* call);

/// Looks until MPI has done what was begun: for what all processes do outside a world. After
/// `patience_s` the job is aborted, and those named that do not answer.
void complete(MPI_Request& request, double patience_s);

/// MPI in this process: initialised on first use, with MPI_THREAD_MULTIPLE, and finalised when the
/// process exits. Throws MpiError where the library does not provide that. Two calls block, and
/// are bounded (see Deadline): MPI_Init_thread, in which processes wait for one another as long as
/// these take to start and to read what they are to do, and MPI_Finalize.
class Session {
 public:
  /// On first use the others have `patience_s` to come, or the job is aborted; 15 s at least until
  /// all have started, and at the exit, or 120 s where `patience_s` is that of the default
  /// watchdog.
  static Session& get(double patience_s);
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// All processes; errors are returned. For what is done outside worlds, which have duplicates of
  /// it.
  MPI_Comm base() const { return base_; }
  /// Of base(), made by all processes. Aborts the job as `complete` does.
  MPI_Comm duplicate(double patience_s) const;
  /// Returns when all processes have called it. Aborts the job, and names those that have not come,
  /// after `patience_s`.
  void meet(double patience_s);
  /// Prints `message` and ends the job, all its processes included.
  [[noreturn]] void abort(const std::string& message, int exit_code);

 private:
  explicit Session(double patience_s);
  int rank_ = 0, size_ = 1;
  MPI_Comm base_ = MPI_COMM_NULL;
};

}  // namespace trigram::mpi
