// The two threads of a process that watch over its world. One makes progress on control messages;
// the other ends the process if the first cannot.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "core/logging/rank_log.h"
#include "runtime/host/back_off.h"
#include "runtime/host/signal_message.h"
#include "runtime/host/timeout.h"
#include "runtime/mpi/world.h"

namespace trigram::mpi {

void MpiWorld::progress() noexcept {
  host::BackOff back_off = host::BackOff::for_control_messages();
  const auto interval = std::chrono::duration_cast<host::Clock::duration>(watch_.interval());
  auto due = host::Clock::now() + interval;
  while (!ending_.stopped()) {
    ++iterations_;
    watch_.update_clock();
    try {
      if (control_channel_.poll()) back_off.reset();
      else back_off.pause();
      if (signal_message::update_requested()) signal_message::set(status(groups_.snapshot()));
      if (host::Clock::now() < due) continue;
      due = host::Clock::now() + interval;
      report_and_check();
    } catch (...) {
      fail(std::current_exception());
    }
  }
}

/// Ends the process in two cases that `progress` cannot detect. First, the ranks of a machine share
/// queues in memory: a rank that is stopped while it updates such a queue can block the threads of
/// another rank inside MPI for ever. Second, an accelerator that cannot be aborted keeps its
/// streams from unwinding, while the rank still sends status messages. This thread calls neither
/// MPI nor the accelerator.
void MpiWorld::guard() noexcept {
  const double longest_s = 2 * watch_.longest_silence_s();
  constexpr double kAbortAccelerator_s = 20;
  const double unwinding_s = watch_.longest_silence_s() + kAbortAccelerator_s;
  std::optional<host::Timeout> unwinding;
  host::Timeout progress_timeout(longest_s);
  std::uint64_t last_iterations = 0;
  while (!ending_.wait_until_stopped(Ending::Seconds(0.5))) {
    if (failed() && !unwinding) unwinding.emplace(unwinding_s);
    if (unwinding && unwinding->is_over())
      session_.abort(fmt::format("the world has failed, and rank {} has not ended for {} s", rank(),
                                 unwinding_s),
                     host::kWatchdogExit);
    if (const std::uint64_t iterations = iterations_; iterations != last_iterations) {
      last_iterations = iterations;
      progress_timeout.restart();
    }
    if (!progress_timeout.is_over()) continue;
    session_.abort(fmt::format("no call of MPI has returned on rank {} for {} s:\n{}", rank(),
                               longest_s, fmt::join(groups_.snapshot().blocked, "\n")),
                   host::kWatchdogExit);
  }
}

/// Rank 0 receives the states of all streams and decides whether the world hangs. To the other
/// ranks its messages only show that it is alive.
void MpiWorld::report_and_check() {
  const host::StreamSnapshot mine = groups_.snapshot();
  if (rank() == 0) {
    watch_.record(0, mine);
    send_to_all_ranks({.kind = ControlMessage::status});
    if (const auto hang = watch_.hang(); hang && !failed()) fail(std::make_exception_ptr(*hang));
  } else {
    control_channel_.send(0, message_of(mine));
  }
  update_signal_message(mine);
  check_silence(mine);
}

/// Updates the text that a process prints when a signal ends it, and logs every long wait.
void MpiWorld::update_signal_message(const host::StreamSnapshot& mine) {
  signal_message::set(status(mine));
  const bool stalled = !mine.running && mine.waits_ended == logged_.waits_ended;
  if (stalled && logged_.blocked.empty() && !mine.blocked.empty()) {
    logged_.blocked = mine.blocked;
    rank_log::print("no progress for {:.3} s:\n{}", watch_.interval().count(), status(mine));
  } else if (!stalled) {
    if (!logged_.blocked.empty()) rank_log::write("progress resumed");
    logged_ = {.running = mine.running, .waits_ended = mine.waits_ended, .blocked = {}};
  }
}

std::string MpiWorld::status(const host::StreamSnapshot& mine) {
  if (!mine.blocked.empty()) return fmt::format("{}", fmt::join(mine.blocked, "\n"));
  if (mine.running) return fmt::format("rank {} computes", rank());
  return fmt::format("rank {} has {} and waits for the end of rank {}", rank(),
                     failed() ? "stopped, as the job has failed," : "done its part",
                     fmt::join(ending_.missing(), " "));
}

/// Aborts the job if a rank is silent: it was stopped or has died, so the world cannot end.
void MpiWorld::check_silence(const host::StreamSnapshot& mine) {
  if (ending_.all_known()) return;  // ranks that have left are silent, too
  const auto silent = rank() == 0 ? watch_.silent(1, layout().ranks()) : watch_.silent(0, 1);
  if (!silent) return;
  session_.abort(fmt::format("rank {} has not been heard of for {} s; the others:\n{}", *silent,
                             watch_.longest_silence_s(),
                             fmt::join(rank() == 0 ? watch_.blocked() : mine.blocked, "\n")),
                 host::kWatchdogExit);
}

}  // namespace trigram::mpi
