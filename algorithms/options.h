#pragma once

#include <optional>

#include "algorithms/collectives/collectives.h"
#include "core/codec.h"
#include "core/config/kinds.h"

namespace trigram {

// Kinds of options that several algorithms have.

Kind<AllreduceAlgorithm> allreduce_kind();
/// The same in groups of a power of two, where recursive doubling is called a butterfly.
Kind<AllreduceAlgorithm> group_allreduce_kind();

/// Which codec, as `codec_kind` has it, or "none" for full precision.
Kind<std::optional<CodecSpec>> optional_codec_kind();

}  // namespace trigram
