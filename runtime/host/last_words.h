#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// What this process has to say if it is told to end: who waits for whom, written beforehand,
/// because a signal handler may neither allocate memory nor take a lock.
namespace last_words {

/// In place of what was said before; clipped to 3 kB. Any thread, one at a time.
void set(std::string_view text);
/// True when a signal handler has asked for newer words than those set: whoever sets them looks at
/// it often.
bool wanted() noexcept;

/// On SIGTERM, SIGINT and SIGHUP from now on: writes, in one piece, to stderr and to the file
/// `copy` (where not empty) `who`, the signal, the last words, asked for anew and given 0.2 s, and
/// `parting`; then ends the process with `exit_code`, without running destructors or MPI.
void end_on_signals(const std::string& who, const std::string& parting, int exit_code,
                    const std::string& copy = "");

}  // namespace last_words
}  // namespace trigram
