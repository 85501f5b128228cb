#include "algorithms/execution/two_level_average.h"

#include <fmt/format.h>

#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "algorithms/primitives/primitives.h"
#include "core/subset.h"

namespace trigram {
namespace {

/// x = the mean of all ranks' codes of x's part number rank, in that part. `error` is e, or null.
void coded_reduce_scatter(Context c, const Tensor& x, Codec& codec, const Tensor* error,
                          const TwoLevels& o) {
  Device& device = *c.device;
  const auto P = static_cast<std::size_t>(c.size()), self = static_cast<std::size_t>(c.rank());
  if (P == 1) return;
  const std::vector<Tensor> chunks = parts(x, P);
  std::vector<Tensor> outgoing;
  for (const Tensor& chunk : chunks) outgoing.push_back(codec.empty_wire(device, chunk));
  const std::vector<Tensor> incoming = empty_wires(c, codec, chunks[self], P);
  if (error) device.axpby(1, *error, 1, x);
  codec.encode_each(outgoing, chunks);
  if (error) {
    const auto beta = static_cast<float>(*o.error_decay);
    const Tensor lost = device.empty_like(x);
    codec.decode_each(parts(lost, P), outgoing);
    device.axpby(1, x, -1, lost);
    device.axpby(1 - beta, lost, beta, *error);
    const auto eight_bits = device.codec({"minmax_uint8"});
    const Tensor stored = eight_bits->empty_wire(device, x);
    eight_bits->encode(stored, *error);
    eight_bits->decode(*error, stored);
  }
  direct_alltoall(c, outgoing, incoming);
  codec.decode_mean(device, chunks[self], incoming);
}

/// The code of every part that this rank gathers: by worker of a node, and then by node.
std::vector<Tensor> gathered_codes(Context node, Context peers, const std::vector<Tensor>& slices,
                                   Codec& codec) {
  const auto N = static_cast<std::size_t>(peers.size());
  std::vector<Tensor> all, whole;
  for (const Tensor& slice : slices) {
    std::size_t bytes = 0, priced = 0, begin = 0;
    for (const Tensor& part : parts(slice, N)) {
      bytes += codec.wire_bytes(part.numel());
      priced += codec.priced_bytes(part.priced_numel());
    }
    whole.push_back(node.device->empty(bytes, DType::u8, priced));
    for (const Tensor& part : parts(slice, N)) {
      const std::size_t length = codec.wire_bytes(part.numel());
      all.push_back(whole.back().slice(begin, length, codec.priced_bytes(part.priced_numel())));
      begin += length;
    }
  }
  const std::size_t first = static_cast<std::size_t>(node.rank()) * N,
                    own = static_cast<std::size_t>(peers.rank());
  codec.encode(all[first + own], slices[static_cast<std::size_t>(node.rank())].part(own, N));
  ring_allgather(peers, std::span(all).subspan(first, N));
  ring_allgather(node, whole);
  return all;
}

}  // namespace

Exchange two_level_average(const TwoLevels& o, std::uint64_t seed, const TrainingState& state) {
  return [o, seed, state](Context c, const Tensor& x, Slot slot) {
    if (c.size() == 1) return;
    const std::vector<int>& members = c.layout->node_members(c.world_rank);
    Subset node(*c.comm, members);
    std::vector<int> same;  // the workers with the same number in all nodes
    for (const auto& other : c.layout->nodes())
      same.push_back(other[static_cast<std::size_t>(node.rank())]);
    Subset peers(*c.comm, same);
    const std::vector<Tensor> slices = parts(x, members.size());
    const Tensor& own = slices[static_cast<std::size_t>(node.rank())];
    const TrainingState kept = state.child(fmt::format("errors {}", slot.bucket));
    Tensor inner, outer;
    if (o.error_decay) {
      inner = kept.zeros_like(c, "inside nodes", x);
      outer = kept.zeros_like(c, "between nodes", own);
      if (slot.step % o.error_reset == 0) {
        c.device->fill(inner, 0);
        c.device->fill(outer, 0);
      }
    }
    const auto codec = [&](const CodecSpec& spec, int number) {
      return c.device->codec(spec, codec_key(c, seed, slot, number));
    };
    const auto gather = codec(o.gather_codec, 2);
    coded_reduce_scatter(c.with(node), x, *codec(o.codec, 0), o.error_decay ? &inner : nullptr, o);
    coded_reduce_scatter(c.with(peers), own, *codec(o.inter_codec, 1),
                         o.error_decay ? &outer : nullptr, o);
    std::vector<Tensor> all_parts;
    for (const Tensor& slice : slices)
      for (const Tensor& part : parts(slice, same.size())) all_parts.push_back(part);
    gather->decode_each(all_parts, gathered_codes(c.with(node), c.with(peers), slices, *gather));
  };
}

}  // namespace trigram
