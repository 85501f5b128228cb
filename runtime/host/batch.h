#pragma once

#include <span>
#include <vector>

#include "runtime/host/endpoint.h"

namespace trigram::host {

/// The halves of a batch. A send whose tensor the same batch receives into gets a copy, in
/// `staged`: what is sent is what the tensor holds at the call.
void halves_of(std::span<const Transfer> batch, std::vector<PostedTransfer>& halves,
               std::vector<Tensor>& staged);

}  // namespace trigram::host
