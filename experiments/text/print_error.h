#pragma once

#include <string>

namespace trigram {

/// Writes each line of `text` to stderr after the program's name. Never throws: if stderr is full
/// or closed, only the exit code shows the error.
void print_error(const std::string& text) noexcept;

}  // namespace trigram
