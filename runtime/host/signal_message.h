#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// A message that this process writes if a signal ends it: which stream waits for which rank. It is
/// prepared in advance, because a signal handler may neither allocate memory nor take a lock.
namespace signal_message {

/// Replaces the message; truncated to 3 kB. Thread-safe.
void set(std::string_view text);
/// True if a signal handler has requested a newer message. The thread that calls `set` should poll
/// this often.
bool update_requested() noexcept;

/// Installs handlers for SIGTERM, SIGINT and SIGHUP. A handler requests a new message and waits up
/// to 0.2 s for it. Then it writes the name of the process, the signal, the message and `last_line`
/// in one piece to stderr and to the file `log_path` (unless that is empty). It then ends the
/// process with `exit_code`, without running destructors or MPI.
void end_on_signals(const std::string& process_name, const std::string& last_line, int exit_code,
                    const std::string& log_path = "");

}  // namespace signal_message
}  // namespace trigram
