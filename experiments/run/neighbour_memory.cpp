#include "experiments/run/neighbour_memory.h"

#include <algorithm>
#include <utility>

#include "core/communicator.h"
#include "core/layout.h"
#include "experiments/checkpoint/checkpoint_folder.h"

namespace trigram {
namespace {

/// The ranks of a job whose nodes follow each other in a ring.
struct Ring {
  int rank, ranks, per_node;

  explicit Ring(const Context& raw)
      : rank(raw.world_rank),
        ranks(raw.world_size),
        per_node(raw.world_size / static_cast<int>(raw.layout->nodes().size())) {}
  int next(int of) const { return (of + per_node) % ranks; }
  int before(int of) const { return (of + ranks - per_node) % ranks; }
  bool is_on(std::int64_t node, int of) const { return of / per_node == node; }
};

Transfer state_message(Transfer::Kind kind, double bytes, int peer) {
  const auto size = static_cast<std::size_t>(bytes);
  return {kind, Tensor::phantom(size, DType::u8, size), peer, TrafficClass::point_to_point};
}

}  // namespace

std::filesystem::path memory_folder(const std::filesystem::path& storage) {
  return storage / "memory";
}

std::optional<RestartPoint> latest_checkpoint(const std::filesystem::path& storage, bool keeps,
                                              std::optional<long> lost) {
  std::optional<RestartPoint> latest;
  if (const auto steps = CheckpointFolder(storage).steps(); !steps.empty())
    latest = {storage, steps.front(), keeps && steps.front() != lost};
  if (!keeps) return latest;
  const auto steps = CheckpointFolder(memory_folder(storage)).steps();
  if (!steps.empty() && (!latest || steps.front() > latest->step))
    latest = {memory_folder(storage), steps.front(), true};
  return latest;
}

bool loses_memory(const std::vector<std::int64_t>& crashed, std::int64_t nodes) {
  return std::ranges::any_of(crashed, [&](std::int64_t node) {
    return std::ranges::count(crashed, (node + 1) % nodes) > 0;
  });
}

void copy_to_neighbours(const Context& raw, const std::vector<double>& bytes) {
  const Ring ring(raw);
  const auto bytes_of = [&](int rank) { return bytes[static_cast<std::size_t>(rank)]; };
  const int to = ring.next(ring.rank), from = ring.before(ring.rank);
  raw.comm->transfer(std::vector{state_message(Transfer::recv, bytes_of(from), from),
                                 state_message(Transfer::send, bytes_of(ring.rank), to)});
}

void restore_from_neighbours(const Context& raw, const std::vector<double>& bytes,
                             const std::vector<std::int64_t>& crashed) {
  const Ring ring(raw);
  const auto bytes_of = [&](int rank) { return bytes[static_cast<std::size_t>(rank)]; };
  std::vector<Transfer> batch;
  for (const std::int64_t node : crashed) {
    const int next = ring.next(ring.rank), before = ring.before(ring.rank);
    // First the states of the node itself, then the copies that it had.
    if (ring.is_on(node, ring.rank)) {
      batch.push_back(state_message(Transfer::recv, bytes_of(ring.rank), next));
      batch.push_back(state_message(Transfer::recv, bytes_of(before), before));
    }
    if (ring.is_on(node, before))
      batch.push_back(state_message(Transfer::send, bytes_of(before), before));
    if (ring.is_on(node, next))
      batch.push_back(state_message(Transfer::send, bytes_of(ring.rank), next));
  }
  if (!batch.empty()) raw.comm->transfer(batch);
}

}  // namespace trigram
