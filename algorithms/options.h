#pragma once

#include <string>

#include "algorithms/collectives/collectives.h"
#include "core/config/kinds.h"

namespace trigram {

// Kinds of options that several algorithms have.

Kind<AllreduceAlgorithm> allreduce_kind();
/// The name of a codec that exists.
Kind<std::string> codec_name();

}  // namespace trigram
