#pragma once

#include <functional>
#include <span>

#include "core/context.h"

/// What collectives tell a world that prices them as a whole (core/collective_pricer.h): the
/// pattern of their messages, and what they compute in between. Other worlds make the messages.
namespace trigram {

using Messages = std::function<void()>;

/// The rounds of a reduce-scatter around a ring, of an allgather, and of both one after the other.
/// Rank r has part r of x at the end of the first, and at the beginning of the second.
void price_ring_reduce_scatter(Context ctx, const Tensor& x, Reduce op, const Messages& messages);
void price_ring_allgather(Context ctx, const Tensor& x, const Messages& messages);
void price_ring_allreduce(Context ctx, const Tensor& x, Reduce op, const Messages& messages);
/// The same allgather of parts that need not be equally long.
void price_ring_allgather(Context ctx, std::span<const Tensor> parts, const Messages& messages);

/// Pieces that each rank hands on to the next; the last rank of the chain keeps them. `work` is
/// what a rank computes, at most, when a piece has come.
void price_chain(Context ctx, std::span<const Tensor> pieces, bool last,
                 const std::function<void(Context)>& work, const Messages& messages);

/// Transfers that all ranks of the communicator make at the same time, which is an h-relation. Some
/// ranks may have none.
void transfer_at_once(Context ctx, std::span<const Transfer> batch, TrafficClass traffic);

}  // namespace trigram
