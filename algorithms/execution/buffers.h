#pragma once

#include "core/algorithm.h"

namespace trigram {

/// Rank 0's buffers of the model, at all ranks, on `comm`, waited for (PyTorch's
/// DistributedDataParallel before each forward pass, `broadcast_buffers`). A chain through the
/// ranks in pieces of 512 KiB, as NCCL broadcasts along its ring (src/device/broadcast.h): a chunk
/// is one of the 8 slots of a buffer of 4 MiB. Nothing where a model has no buffers.
void broadcast_buffers(Context ctx, Run& run, Stream& comm);

}  // namespace trigram
