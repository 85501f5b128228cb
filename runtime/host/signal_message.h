#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// A message that this process writes if a signal ends it: which stream waits for which rank. It is
/// prepared in advance, because a signal handler may neither allocate memory nor take a lock.
namespace signal_message {

/// Replaces the message; truncated to 3 kB. Thread-safe.
void set(std::string_view text);
/// True if a signal handler has asked for a newer message. The thread that calls `set` should poll
/// this often.
bool wanted() noexcept;

/// Installs handlers for SIGTERM, SIGINT and SIGHUP. A handler asks for a new message and waits up
/// to 0.2 s for it. Then it writes `who`, the signal, the message and `parting` in one piece to
/// stderr and to the file `copy` (unless that is empty). It then ends the process with `exit_code`,
/// without running destructors or MPI.
void end_on_signals(const std::string& who, const std::string& parting, int exit_code,
                    const std::string& copy = "");

}  // namespace signal_message
}  // namespace trigram
