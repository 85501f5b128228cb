#pragma once

#include <chrono>

namespace trigram::host {

using Clock = std::chrono::steady_clock;

}  // namespace trigram::host
