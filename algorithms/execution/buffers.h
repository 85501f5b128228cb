#pragma once

#include "core/algorithm.h"

namespace trigram {

/// Broadcasts rank 0's copy of the model's buffers (Workload::buffers) to all ranks on `comm`, and
/// waits for it. PyTorch's DistributedDataParallel does this before each forward pass
/// (`broadcast_buffers`). The broadcast is a chain through the ranks in pieces of 512 KiB, like
/// NCCL's broadcast along its ring (src/device/broadcast.h), whose chunks fill one of the 8 slots
/// of a 4 MiB buffer. Does nothing if the model has no buffers.
void broadcast_buffers(Context ctx, Run& run, Stream& comm);

}  // namespace trigram
