#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/context.h"

namespace trigram::test {

/// Every rank sends `nbytes` to every other rank, all at once; returns the time at the end.
double all_at_once(const Context& ctx, std::size_t nbytes);

/// Runs `collective` on a phantom of n floats, with phantoms for scratch; returns the time at the
/// end.
double on_phantom(const Context& raw, std::size_t n,
                  const std::function<void(Context, const Tensor&)>& collective);

/// A bandwidth in the notation of configurations: "250.000000MB/s".
std::string MBps(double Bps);

}  // namespace trigram::test
