#pragma once

#include <string>

namespace trigram {

/// Writes each line of `text` to stderr, after the program's name. Never throws: where stderr is
/// full or closed, the exit code alone tells of the error.
void complain(const std::string& text) noexcept;

}  // namespace trigram
