#pragma once

#include <string>

#include "tests/support/training.h"

namespace trigram::test {

/// What a child process hands back, bit by bit.
std::string to_bytes(const Trained& trained);
Trained trained_from_bytes(const std::string& bytes);

}  // namespace trigram::test
