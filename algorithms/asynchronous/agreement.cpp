#include "algorithms/asynchronous/agreement.h"

#include "algorithms/execution/control_tag.h"

namespace trigram {

bool agree(Context ctx, bool mine) {
  const int P = ctx.world_size;
  bool all = mine;
  // In round k a rank receives from one rank only, and messages of one source stay in order, so the
  // vote of a neighbour that has already begun the next call cannot be mistaken for a vote of this
  // call.
  for (int tag = kAgreementRound0, distance = 1; distance < P; ++tag, distance *= 2) {
    ctx.control->post((ctx.world_rank + distance) % P, tag, all);
    const auto vote = ctx.control->receive(tag);
    all = vote && vote->a != 0 && all;
  }
  return all;
}

}  // namespace trigram
