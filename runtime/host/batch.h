#pragma once

#include <span>
#include <vector>

#include "runtime/host/endpoint.h"

namespace trigram::host {

/// Fills `halves` with the halves of a batch. If the batch receives into the tensor of one of its
/// sends, that send uses a copy in `staged`, because a message carries the values at the time of
/// the call.
void halves_of(std::span<const Transfer> batch, std::vector<PostedTransfer>& halves,
               std::vector<Tensor>& staged);

}  // namespace trigram::host
