#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/context.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram::test {

/// `nodes` x `workers_per_node` workers with round numbers: 1 GB/s and 10 us between nodes, 10 GB/s
/// and 1 us inside them; 1 Tflop/s, 100 GB/s of memory, no launch overhead.
Cluster round_cluster(int nodes, int workers_per_node = 1);

/// Simulates `body` on all ranks in a child process. Returns its results, such as the time at its
/// end, by rank.
std::vector<double> simulate(const Cluster& cluster, const std::function<double(Context)>& body,
                             const SimOptions& options = {});

/// As `simulate`, with contexts that are metered and whose tensors are phantoms.
std::vector<double> simulate_phantoms(const Cluster& cluster,
                                      const std::function<double(Context)>& body,
                                      const SimOptions& options = {});

/// The time at which the last rank has ended; -1 if the simulation has failed.
double latest_end_s(const std::vector<double>& ends_s);

/// The message of the exception that ends the simulation of `body`. Fails the calling test if there
/// is none. The message of a HangError gets the prefix "hang: ".
std::string failure_of(const Cluster& cluster, const Task& body, const SimOptions& options = {});

/// A phantom tensor of `nbytes` bytes.
Tensor phantom_bytes(std::size_t nbytes);

/// Sends a phantom of `nbytes` bytes to `peer`, or receives it from there.
void send_phantom(const Context& ctx, int peer, std::size_t nbytes);
void receive_phantom(const Context& ctx, int peer, std::size_t nbytes);
/// Moves a phantom of `nbytes` bytes from rank 0 to rank 1. Other ranks do nothing.
void message_from_0_to_1(const Context& ctx, std::size_t nbytes,
                         TrafficClass traffic = TrafficClass::collective);

/// Every rank sends `nbytes` to every other rank, all at once; returns the time at the end.
double send_to_all(const Context& ctx, std::size_t nbytes);

/// Runs `collective` on a phantom of n floats and on a device that creates only phantoms; returns
/// the time at the end.
double time_on_phantom(const Context& raw, std::size_t n,
                       const std::function<void(Context, const Tensor&)>& collective);

/// A bandwidth in the notation of configurations: "250.000000MB/s".
std::string MBps(double Bps);

}  // namespace trigram::test
