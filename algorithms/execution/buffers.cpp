#include "algorithms/execution/buffers.h"

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"

namespace trigram {

void broadcast_buffers(Context ctx, Run& run, Stream& comm) {
  constexpr std::size_t kPiece = 512u << 10;
  const Tensor buffers = run.workload.buffers();
  if (buffers.priced_numel() == 0) return;
  const auto broadcast = [buffers](Context c) {
    pipelined_broadcast(c, buffers, 0, static_cast<int>(parts_within(buffers, kPiece)));
  };
  ctx.stream->wait(*comm.submit(ctx, broadcast));
}

}  // namespace trigram
