#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

std::string host_name();

/// This machine, for manifests: {"host", "cpu", "cores" (given), "memory" (bytes), "os"}.
Json describe_machine(int cores);

}  // namespace trigram
