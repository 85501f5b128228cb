#pragma once

#include "core/algorithm.h"

namespace trigram {

/// Broadcasts rank 0's buffers of the model to all ranks on `comm`, and waits for it, like
/// PyTorch's DistributedDataParallel before each forward pass (`broadcast_buffers`). The broadcast
/// is a chain through the ranks in pieces of 512 KiB, like NCCL's broadcast along its ring
/// (src/device/broadcast.h), where a chunk is one of the 8 slots of a buffer of 4 MiB. Does nothing
/// if the model has no buffers.
void broadcast_buffers(Context ctx, Run& run, Stream& comm);

}  // namespace trigram
