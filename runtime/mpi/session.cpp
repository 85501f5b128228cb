#include "runtime/mpi/session.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/mpi/back_off.h"

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

// At exit, unless a world has failed to end: finalising would wait for it.
void finalize() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) MPI_Finalize();
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw MpiError(fmt::format("{} failed: {}", call, std::string(text, std::size_t(length))));
}

void complete(MPI_Request& request) {
  BackOff back_off = BackOff::of_a_letter();
  for (int done = 0; !done; back_off.pause())
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
}

Session& Session::get() {
  static Session session;
  return session;
}

Session::Session() {
  int initialized = 0, provided = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized) {
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
  } else {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    std::atexit(finalize);
  }
  if (provided < MPI_THREAD_MULTIPLE)
    throw MpiError(
        fmt::format("this MPI library provides {} at most; the mpi world, whose streams are "
                    "threads, needs MPI_THREAD_MULTIPLE",
                    level_name(provided)));
  check(MPI_Comm_dup(MPI_COMM_WORLD, &base_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(base_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(base_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(base_, &size_), "MPI_Comm_size");
}

void Session::abort(const std::string& message, int exit_code) {
  std::fprintf(stderr, "trigram: %s\n", message.c_str());
  std::fflush(stderr);
  MPI_Abort(base_, exit_code);
  std::_Exit(exit_code);
}

}  // namespace trigram::mpi
