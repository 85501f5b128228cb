#include "tests/bench/mpi/mpi_speed.h"

#include <mpi.h>

#include <stdexcept>

#include "algorithms/collectives/collectives.h"
#include "algorithms/primitives/primitives.h"
#include "core/metering/meter.h"
#include "runtime/mpi/mpi_runtime.h"
#include "tests/bench/median.h"

namespace trigram::test {
namespace {

// A ring with segments that stay in the caches.
const AllreduceSpec kRing(AllreduceAlgorithm::ring, {.segment_bytes = std::size_t{1} << 21});

/// The baseline: the blocking call, as in a program without this project.
void bare_allreduce(const Tensor& x) {
  MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.numel()), MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
}

/// The calls on which a native allreduce is based, since it must not block.
void nonblocking_allreduce(const Tensor& x) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.numel()), MPI_FLOAT, MPI_SUM,
                 MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Runs the operation twice and returns the duration of the second run, which finds the caches as
/// in a loop of this operation alone.
template <class Operation>
double seconds_of(const Context& ctx, const Operation& operation) {
  operation();
  const double begin_s = ctx.stream->now();
  operation();
  return ctx.stream->now() - begin_s;
}

/// Sets `value` to the largest value of all ranks.
void allreduce_max(const Context& ctx, double& value) {
  const Tensor x = ctx.device->empty(1);
  x.floats()[0] = static_cast<float>(value);
  ring_allreduce(ctx, x, Reduce::max);
  value = double{x.floats()[0]};
}

std::uint64_t sent(const Counters& c) { return c.bytes_intra + c.bytes_inter; }

}  // namespace

AllreduceTimes time_allreduces(const Context& ctx, std::size_t bytes, int rounds) {
  const Tensor x = ctx.device->empty(bytes / sizeof(float));
  ctx.device->fill(x, 0);  // sums stay 0
  std::vector<double> bare, nonblocking, native, ring;
  constexpr int kWarmUp = 5;
  for (int i = -kWarmUp; i < rounds; ++i) {
    const double bare_s = seconds_of(ctx, [&] { bare_allreduce(x); });
    const double nonblocking_s = seconds_of(ctx, [&] { nonblocking_allreduce(x); });
    const double native_s = seconds_of(ctx, [&] {
      if (!ctx.comm->native({Collective::allreduce, x}))
        throw std::runtime_error("there is no native allreduce here");
    });
    const double ring_s = seconds_of(ctx, [&] { allreduce(ctx, x, Reduce::sum, kRing); });
    if (i < 0) continue;
    bare.push_back(bare_s);
    nonblocking.push_back(nonblocking_s);
    native.push_back(native_s);
    ring.push_back(ring_s);
  }
  AllreduceTimes times{median(bare), median(nonblocking), median(native), median(ring)};
  for (double* value : {&times.bare, &times.nonblocking, &times.native, &times.ring})
    allreduce_max(ctx, *value);
  return times;
}

double bytegrad_share(const Context& raw, std::size_t numel) {
  const auto meter = instrument(raw, {});
  const Context ctx = meter->context();
  const Tensor x = ctx.device->empty(numel);
  ctx.device->fill(x, 1);
  ring_allreduce(ctx, x, Reduce::avg);
  const auto full = sent(meter->counters());
  const auto codec = ctx.device->codec({"minmax_uint8"});
  c_lp_s(ctx, x, *codec);
  return static_cast<double>(sent(meter->counters()) - full) / static_cast<double>(full);
}

void launch_in_job(const std::function<void(Context)>& rank_main) {
  make_mpi_runtime()->launch(Layout(1, mpi_process().size), rank_main);
}

}  // namespace trigram::test
