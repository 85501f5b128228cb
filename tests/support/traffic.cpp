#include "tests/support/traffic.h"

#include <vector>

#include "core/metering/meter.h"
#include "tests/support/simulate.h"

namespace trigram::test {

double all_at_once(const Context& ctx, std::size_t nbytes) {
  std::vector<Transfer> batch;
  for (int peer = 0; peer < ctx.size(); ++peer) {
    if (peer == ctx.rank()) continue;
    batch.push_back({Transfer::recv, phantom_bytes(nbytes), peer});
    batch.push_back({Transfer::send, phantom_bytes(nbytes), peer});
  }
  ctx.comm->transfer(batch);
  return ctx.stream->now();
}

double on_phantom(const Context& raw, std::size_t n,
                  const std::function<void(Context, const Tensor&)>& collective) {
  const auto meter = instrument(raw, {.phantom = true, .sink = {}});
  const Context ctx = meter->context();
  collective(ctx, ctx.device->empty(n));
  return ctx.stream->now();
}

std::string MBps(double Bps) { return std::to_string(Bps / 1e6) + "MB/s"; }

}  // namespace trigram::test
