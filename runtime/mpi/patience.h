#pragma once

#include "runtime/host/patience.h"

namespace trigram::mpi {

/// Of a process that has waited for others in vain.
inline constexpr int kWatchdogExit = 124;

using host::Patience;

}  // namespace trigram::mpi
