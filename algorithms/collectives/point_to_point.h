#pragma once

#include <algorithm>
#include <vector>

#include "core/context.h"

namespace trigram {

inline void send(Context ctx, const Tensor& x, int peer,
                 TrafficClass traffic = TrafficClass::collective) {
  const Transfer batch[] = {{Transfer::send, x, peer, traffic}};
  ctx.comm->transfer(batch);
}

inline void receive(Context ctx, const Tensor& x, int peer,
                    TrafficClass traffic = TrafficClass::collective) {
  const Transfer batch[] = {{Transfer::recv, x, peer, traffic}};
  ctx.comm->transfer(batch);
}

/// Sends `out` to rank `to` while receiving `in` from rank `from`, which may be the same rank.
inline void send_receive(Context ctx, const Tensor& out, int to, const Tensor& in, int from,
                         TrafficClass traffic = TrafficClass::collective) {
  const Transfer batch[] = {{Transfer::recv, in, from, traffic},
                            {Transfer::send, out, to, traffic}};
  ctx.comm->transfer(batch);
}

/// The smallest number of nearly equal parts of x such that none exceeds `nbytes` priced bytes; at
/// least 1, and 1 if `nbytes` is 0.
inline std::size_t parts_within(const Tensor& x, std::size_t nbytes) {
  if (nbytes == 0) return 1;
  return std::max<std::size_t>((x.priced_nbytes() + nbytes - 1) / nbytes, 1);
}

/// x in `count` nearly equal parts.
inline std::vector<Tensor> parts(const Tensor& x, std::size_t count) {
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(x.part(i, count));
  return parts;
}

/// A tensor as long as the longest of `count` parts of x, in real and in priced elements.
inline Tensor longest_part(const Tensor& x, std::size_t count) {
  return x.slice(0, (x.numel() + count - 1) / count, (x.priced_numel() + count - 1) / count);
}

/// A receive buffer for tensors that are no longer than `longest`.
class Scratch {
 public:
  Scratch(Context ctx, const Tensor& longest) : buffer_(ctx.device->empty_like(longest)) {}
  /// The beginning of the buffer, as long as `x` in real and in priced elements.
  Tensor like(const Tensor& x) const { return buffer_.slice(0, x.numel(), x.priced_numel()); }

 private:
  Tensor buffer_;
};

}  // namespace trigram
