#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "runtime/sim/sim_runtime.h"
#include "tests/oracles/cost_model.h"

namespace trigram::test {

/// A collective on n elements, and its expected duration in seconds.
struct TimedCollective {
  std::string name;
  std::function<void(Context, std::size_t n)> run;
  std::function<double(const CostModel&, int ranks, std::size_t n)> expected_s;
};

/// A transport that buffers all messages.
inline Transport unlimited_buffer() { return {.buffer_bytes = 1e18}; }
/// A transport whose messages wait for their receivers.
inline Transport rendezvous() { return {.protocol = Transport::Protocol::rendezvous}; }

/// Every collective, with its closed form.
std::vector<TimedCollective> timed_collectives();
/// The collectives that fold ranks beyond a power of two onto other ranks. Their closed forms hold
/// only with rendezvous messages: an eager message may share its receiver's port with an earlier
/// message that is still arriving.
std::vector<TimedCollective> folded_collectives();
/// All other collectives.
std::vector<TimedCollective> unfolded_collectives();
/// The collectives with these names.
std::vector<TimedCollective> timed_collectives(const std::vector<std::string>& names);

/// Runs all `collectives` with all lengths, one after another in one simulation of `ranks` phantom
/// workers on a flat network. Compares the time from the common start to the end of the last rank
/// with the closed form. A failure names the collective and the length.
void expect_closed_forms(const std::vector<TimedCollective>& collectives, const CostModel& costs,
                         int ranks, const std::vector<std::size_t>& lengths, double tolerance,
                         const SimOptions& options = {},
                         const Transport& transport = unlimited_buffer());

/// Costs of a network of 12.5 GB/s and 25 us. Reductions are free, or are charged as on a V100.
CostModel free_reductions();
CostModel charged_reductions();

}  // namespace trigram::test
