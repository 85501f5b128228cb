#pragma once

#include <string>

#include "tests/support/training.h"

namespace trigram::test {

/// Serialises the result that a child process returns, bitwise.
std::string to_bytes(const Trained& trained);
Trained trained_from_bytes(const std::string& bytes);

}  // namespace trigram::test
