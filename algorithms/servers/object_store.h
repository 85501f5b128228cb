#pragma once

#include "core/codec.h"
#include "core/config/option_type.h"
#include "core/context.h"
#include "core/layout.h"

// A store of objects between workers that do not send to each other, such as an S3 bucket.

namespace trigram {

/// The workers if the last of `ranks` ranks is a store; without a store, all ranks.
Workers workers_beside_store(bool through_store, int ranks);
/// True if there is a store and it is this rank.
inline bool is_store(bool through_store, Context ctx) {
  return through_store && ctx.rank() + 1 == ctx.size();
}
/// The option "through": true for a store.
OptionType<bool> through_kind();
/// Throws ConfigError if there is a store and no worker, or a hierarchy above the workers.
void check_store(bool through_store, bool hierarchical, const Layout& layout,
                 const std::string& pointer);

/// x = the mean of all workers' Q(x_j), as `c_lp_gather`, through the store, which is the last rank
/// of ctx.comm. Every worker calls it: it puts its code into the store and, when all codes are
/// there, gets those of the other workers. `residual` is that of error feedback for the worker's
/// own code. A single worker keeps its x, and nothing is sent.
///
/// Messages and bytes, for P workers and codes of C bytes: a worker sends one message of C bytes
/// and receives P-1 of them. The store receives P and sends P (P-1) of them.
void gather_through_store(Context ctx, const Tensor& x, Codec& codec, const Tensor& residual);
/// The store's side: receives the codes of all workers, then sends each to the other workers. `x`
/// is as long as the workers' vectors, and is not read.
void serve_objects(Context ctx, const Tensor& x, const Codec& codec);

}  // namespace trigram
