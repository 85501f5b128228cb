#pragma once

#include <string>

namespace trigram {

/// The text as one word of a POSIX shell, in quotes if it needs them.
std::string shell_word(const std::string& text);

/// The last lines of a command that stores results: their folder, and how to make a report of it.
std::string results_lines(const std::string& folder);

}  // namespace trigram
