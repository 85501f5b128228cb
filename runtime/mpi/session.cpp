#include "runtime/mpi/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "core/logging/rank_log.h"
#include "runtime/host/back_off.h"
#include "runtime/host/signal_message.h"
#include "runtime/host/timeout.h"
#include "runtime/mpi/deadline.h"
#include "runtime/mpi/mpi_runtime.h"
#include "runtime/mpi/rank_watch.h"
#include "runtime/mpi/this_machine.h"

namespace trigram::mpi {
namespace {

const char* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE: return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED: return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED: return "MPI_THREAD_SERIALIZED";
    default: return "MPI_THREAD_MULTIPLE";
  }
}

/// Polls until `request` is complete. Returns false if that takes longer than `timeout_s` seconds.
bool completes_within(MPI_Request& request, double timeout_s) {
  host::Timeout timeout(timeout_s);
  host::BackOff back_off = host::BackOff::for_control_messages();
  for (int done = 0;; back_off.pause()) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return true;
    if (timeout.is_over()) return false;
  }
}

/// The longest time that processes may take to start and to exit. Processes of a large job start
/// slowly, and rank 0 may have to write a report after the other ranks have ended. If the user has
/// set a watchdog, its timeout is used instead.
double timeout_outside_worlds_s(double timeout_s) {
  constexpr double kLargeJob_s = 120, kMin_s = 15;
  const bool is_default = timeout_s == RankWatch::longest_silence_s(MpiOptions{}.watchdog_s);
  return is_default ? kLargeJob_s : std::max(timeout_s, kMin_s);
}

double finalize_timeout_s = 0;

// Called at exit. If a world fails to end, `abort` leaves by _Exit, which skips this; MPI_Finalize
// would wait for that world.
void finalize() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  const Deadline deadline("MPI_Finalize", mpi_process().rank, finalize_timeout_s);
  MPI_Finalize();
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw MpiError(fmt::format("{} failed: {}", call, std::string(text, std::size_t(length))));
}

void await_or_abort(MPI_Request& request, double timeout_s) {
  constexpr double kBarrierTimeout_s = 3;
  if (completes_within(request, timeout_s)) return;
  Session& session = Session::get(timeout_s);
  // The waits of live processes time out as well, so they get here, and the barrier names those
  // that do not.
  session.barrier(kBarrierTimeout_s);
  session.abort(fmt::format("rank {} waits for the other ranks to start", session.rank()),
                host::kWatchdogExit);
}

Session& Session::get(double timeout_s) {
  static Session session(timeout_s);
  return session;
}

Session::Session(double timeout_s) {
  int initialized = 0, provided = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized) {
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
  } else {
    finalize_timeout_s = timeout_outside_worlds_s(timeout_s);
    use_no_network_if_all_ranks_are_here();
    remove_leftovers_of_killed_jobs();
    // Constructs the log before `finalize` is registered, so that the log outlives `finalize`.
    rank_log::print("starts MPI");
    const Deadline deadline("MPI_Init_thread", mpi_process().rank, finalize_timeout_s);
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    std::atexit(finalize);
  }
  if (provided < MPI_THREAD_MULTIPLE)
    throw MpiError(
        fmt::format("this MPI library provides {} at most; the mpi world, whose streams are "
                    "threads, needs MPI_THREAD_MULTIPLE",
                    level_name(provided)));
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  MPI_Request request;
  check(MPI_Comm_idup(MPI_COMM_WORLD, &base_, &request), "MPI_Comm_idup");
  if (!completes_within(request, timeout_s))
    abort(fmt::format("rank {} timed out after {} s waiting for the other ranks to start", rank_,
                      timeout_s),
          host::kWatchdogExit);
  check(MPI_Comm_set_errhandler(base_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  rank_log::print("MPI has started: rank {} of {}", rank_, size_);
}

MPI_Comm Session::duplicate(double timeout_s) const {
  MPI_Comm copy;
  MPI_Request request;
  check(MPI_Comm_idup(base_, &copy, &request), "MPI_Comm_idup");
  await_or_abort(request, timeout_s);
  return copy;
}

void Session::barrier(double timeout_s) {
  signal_message::set(fmt::format("rank {} waits for the other ranks to start", rank_));
  const auto processes = static_cast<std::size_t>(size_);
  // These are static, because MPI may write to them until the job ends.
  static std::vector<char> sent, received;
  sent.assign(processes, 0);
  received.assign(processes, 0);
  std::vector<MPI_Request> requests(2 * processes, MPI_REQUEST_NULL);  // receives, then sends
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    const auto i = static_cast<std::size_t>(other);
    check(MPI_Irecv(&received[i], 1, MPI_BYTE, other, 0, base_, &requests[i]), "MPI_Irecv");
    check(MPI_Isend(&sent[i], 1, MPI_BYTE, other, 0, base_, &requests[processes + i]), "MPI_Isend");
  }
  host::Timeout timeout(timeout_s);
  host::BackOff back_off = host::BackOff::for_control_messages();
  for (int all = 0; !all; back_off.pause()) {
    check(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    if (all || !timeout.is_over()) continue;
    std::string missing;
    for (std::size_t i = 0; i < processes; ++i) {
      int arrived = 0;
      check(MPI_Test(&requests[i], &arrived, MPI_STATUS_IGNORE), "MPI_Test");
      if (!arrived) missing += fmt::format(" {}", i);
    }
    abort(
        fmt::format("rank {} timed out after {} s waiting for ranks:{}", rank_, timeout_s, missing),
        host::kWatchdogExit);
  }
}

void Session::abort(const std::string& message, int exit_code) {
  std::fprintf(stderr, "trigram: %s\n", message.c_str());
  std::fflush(stderr);
  rank_log::print("aborts the job: {}", message);
  // MPI_Abort may wait for the process that does not answer, or for a lock of this process, so
  // another thread calls it. A launcher also ends the job when a process exits without
  // MPI_Finalize.
  std::thread([exit_code] { MPI_Abort(MPI_COMM_WORLD, exit_code); }).detach();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::_Exit(exit_code);
}

host::Clock::time_point common_zero(MPI_Comm comm, double timeout_s) {
  using host::Clock;
  struct ClockStart {
    std::array<char, 40> machine{};
    Clock::rep time = Clock::now().time_since_epoch().count();
  } mine, first;
  std::ifstream("/proc/sys/kernel/random/boot_id").read(mine.machine.data(), 36);
  first = mine;
  MPI_Request request;
  check(MPI_Ibcast(&first, sizeof first, MPI_BYTE, 0, comm, &request), "MPI_Ibcast");
  await_or_abort(request, timeout_s);
  return first.machine == mine.machine ? Clock::time_point(Clock::duration(first.time))
                                       : Clock::now();
}

}  // namespace trigram::mpi
