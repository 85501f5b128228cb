#pragma once

#include <functional>
#include <span>

#include "core/context.h"

/// These functions run a collective; `messages` transfers its data. A world that prices each
/// collective as a whole (core/collective_pricer.h) also gets a description of the collective: its
/// messages and the computation between them.
namespace trigram {

using Messages = std::function<void()>;

/// A ring reduce-scatter, a ring allgather, and a ring allreduce, which is a reduce-scatter
/// followed by an allgather. Rank r owns part r of x at the end of the reduce-scatter and at the
/// beginning of the allgather.
void run_as_ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op, const Messages& messages);
void run_as_ring_allgather(Context ctx, const Tensor& x, const Messages& messages);
void run_as_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Messages& messages);
/// The same allgather for parts of different lengths.
void run_as_ring_allgather(Context ctx, std::span<const Tensor> parts, const Messages& messages);

/// A chain in which each rank passes `pieces` on to the next rank; `last` is true on the last rank,
/// which passes nothing on. `work` computes, with the context that it is given, what a rank
/// computes on the longest received piece.
void run_as_chain(Context ctx, std::span<const Tensor> pieces, bool last,
                  const std::function<void(Context)>& work, const Messages& messages);

/// Transfers that all ranks of the communicator make at the same time, as an h-relation. Every rank
/// must call it, even with an empty batch.
void transfer_at_once(Context ctx, std::span<const Transfer> batch, TrafficClass traffic);

}  // namespace trigram
