#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/context.h"

// Checkpoints in the memory of other nodes, as in Gemini (Wang et al., "GEMINI: Fast Failure
// Recovery in Distributed Training with In-Memory Checkpoints", SOSP 2023). Each node keeps the
// state of its own ranks and that of the node before it, in a process that outlives training.
// The simulator writes these states to files, too, but only the messages between nodes take time.

namespace trigram {

/// Where the checkpoints in memory are, given the folder of those on storage.
std::filesystem::path memory_folder(const std::filesystem::path& storage);

/// A checkpoint from which a job can go on.
struct RestartPoint {
  std::filesystem::path folder;
  long step = 0;
  bool in_memory = false;
};

/// The latest checkpoint in `storage` and, if the job keeps any, in memory. A checkpoint on storage
/// is in memory as well, unless it is that of step `lost`. Empty if there is none.
std::optional<RestartPoint> latest_checkpoint(const std::filesystem::path& storage, bool keeps,
                                              std::optional<long> lost);

/// True if the state of a node is lost when these nodes crash together: since the next one of
/// `nodes` nodes, which has its copy, is among them.
bool loses_memory(const std::vector<std::int64_t>& crashed, std::int64_t nodes);

/// Sends `bytes[rank]` bytes, the state of this rank, to the same rank of the next node, and
/// receives that of the node before. Collective.
void copy_to_neighbours(const Context& raw, const std::vector<double>& bytes);

/// Brings back what the nodes `crashed` had in memory, none of which are neighbours: their own
/// states and their copies. Collective.
void restore_from_neighbours(const Context& raw, const std::vector<double>& bytes,
                             const std::vector<std::int64_t>& crashed);

}  // namespace trigram
