#pragma once

#include "algorithms/collectives/collectives.h"
#include "core/config/kinds.h"

namespace trigram {

// Kinds of options that several algorithms have.

Kind<AllreduceAlgorithm> allreduce_kind();

}  // namespace trigram
