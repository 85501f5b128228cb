#include "algorithms/servers/object_store.h"

#include <vector>

#include "algorithms/primitives/primitives.h"
#include "algorithms/servers/partitions.h"
#include "core/config/config_error.h"

namespace trigram {
namespace {

/// Wires for the codes of all workers.
std::vector<Tensor> empty_codes(Context ctx, const Tensor& x, const Codec& codec) {
  return empty_wires(ctx, codec, x, static_cast<std::size_t>(ctx.size()) - 1);
}

/// Adds one message for the code of each worker but `own` between this rank and `peer`.
void add_others(std::vector<Transfer>& batch, Transfer::Kind kind, std::span<const Tensor> codes,
                int own, int peer) {
  for (int worker = 0; worker < static_cast<int>(codes.size()); ++worker)
    if (worker != own)
      batch.push_back({kind, codes[static_cast<std::size_t>(worker)], peer, TrafficClass::server});
}

}  // namespace

Workers workers_beside_store(bool through_store, int ranks) {
  return Servers(through_store ? 1 : 0, ranks, Placement::beside).workers();
}

OptionType<bool> through_kind() { return one_of<bool>({{"peers", false}, {"store", true}}); }

void check_store(bool through_store, bool hierarchical, const Layout& layout,
                 const std::string& pointer) {
  if (!through_store) return;
  if (layout.ranks() == 1)
    throw ConfigError(pointer + "/through",
                      "a single rank cannot have a store beside it; expected \"peers\"");
  if (hierarchical)
    throw ConfigError(pointer + "/hierarchical",
                      "every worker uses the store itself; expected \"through\": \"peers\"");
}

void gather_through_store(Context ctx, const Tensor& x, Codec& codec, const Tensor& residual) {
  const int store = ctx.size() - 1;
  if (store == 1) return;
  const std::vector<Tensor> codes = empty_codes(ctx, x, codec);
  const Tensor& own = codes[static_cast<std::size_t>(ctx.rank())];
  codec.encode_each_with_feedback(*ctx.device, {&own, 1}, {&x, 1}, {&residual, 1});
  const Transfer put{Transfer::send, own, store, TrafficClass::server};
  ctx.comm->transfer({&put, 1});
  std::vector<Transfer> gets;
  add_others(gets, Transfer::recv, codes, ctx.rank(), store);
  ctx.comm->transfer(gets);
  codec.decode_mean(*ctx.device, x, codes);
}

void serve_objects(Context ctx, const Tensor& x, const Codec& codec) {
  if (ctx.size() == 2) return;
  const std::vector<Tensor> codes = empty_codes(ctx, x, codec);
  std::vector<Transfer> puts, gets;
  for (int worker = 0; worker + 1 < ctx.size(); ++worker) {
    const Tensor& code = codes[static_cast<std::size_t>(worker)];
    puts.push_back({Transfer::recv, code, worker, TrafficClass::server});
    add_others(gets, Transfer::send, codes, worker, worker);
  }
  ctx.comm->transfer(puts);
  ctx.comm->transfer(gets);
}

}  // namespace trigram
