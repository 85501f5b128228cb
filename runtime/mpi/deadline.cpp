#include "runtime/mpi/deadline.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/logging/rank_log.h"
#include "runtime/host/timeout.h"

namespace trigram::mpi {

Deadline::Deadline(std::string call, int rank, double timeout_s)
    : call_(std::move(call)), rank_(rank), watcher_([this, timeout_s] { watch(timeout_s); }) {}

Deadline::~Deadline() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  watcher_.join();
}

void Deadline::watch(double timeout_s) {
  host::Timeout timeout(timeout_s);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, timeout.poll_interval(), [this] { return over_; })) {
    if (!timeout.is_over()) continue;
    const std::string message =
        fmt::format("{} has not returned on rank {} for {} s", call_, rank_, timeout_s);
    std::fprintf(stderr, "trigram: %s\n", message.c_str());
    std::fflush(stderr);
    rank_log::print("ends: {}", message);
    std::_Exit(host::kWatchdogExit);  // MPI_Abort would wait for locks that the blocked call holds
  }
}

}  // namespace trigram::mpi
