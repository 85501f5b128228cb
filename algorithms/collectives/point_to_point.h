#pragma once

#include <algorithm>
#include <vector>

#include "core/context.h"

namespace trigram {

inline void send(Context ctx, const Tensor& x, int peer) {
  const Transfer batch[] = {{Transfer::send, x, peer}};
  ctx.comm->transfer(batch);
}

inline void receive(Context ctx, const Tensor& x, int peer) {
  const Transfer batch[] = {{Transfer::recv, x, peer}};
  ctx.comm->transfer(batch);
}

/// Sends `out` to one rank while receiving `in` from another (or the same).
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
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(x.part(i, count));
  return all;
}

/// A tensor as long as the longest of the `of` parts of x, in real and in priced elements.
inline Tensor longest_part(const Tensor& x, std::size_t of) {
  return x.slice(0, (x.numel() + of - 1) / of, (x.priced_numel() + of - 1) / of);
}

/// A receive buffer; `like` cuts it to the length of any tensor that is no longer than `longest`.
class Scratch {
 public:
  Scratch(Context ctx, const Tensor& longest) : room_(ctx.device->empty_like(longest)) {}
  /// A buffer as long as `x`, in real and in priced elements.
  Tensor like(const Tensor& x) const { return room_.slice(0, x.numel(), x.priced_numel()); }

 private:
  Tensor room_;
};

}  // namespace trigram
