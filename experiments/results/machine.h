#pragma once

#include "core/config/kinds.h"

namespace trigram {

/// This machine, for manifests: {"host", "cpu", "cores", "memory" (bytes), "os"}.
Json describe_machine();

/// Cores that this process may run on.
int available_cores();

}  // namespace trigram
