// A world of GPUs fails while kernels of several communicators wait for messages that nobody sends.

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "core/context.h"
#include "cuda/cuda_accelerator.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram::nccl_abort_test {
namespace {

void receive_from_1(const Context& ctx) {
  ctx.comm->transfer(std::array{Transfer{Transfer::recv, ctx.device->empty(10), 1}});
}

/// Rank 1 fails while the other ranks, whose messages are not checked, have kernels running on
/// three streams.
void fail_while_streams_receive(const Context& ctx) {
  auto agent = ctx.stream->fork("agent"), other = ctx.stream->fork("other");
  if (ctx.rank() == 1) {
    ctx.stream->sleep_for(0.5);
    throw std::out_of_range("the batch has no sample 7");
  }
  auto first = agent->submit(ctx, receive_from_1), second = other->submit(ctx, receive_from_1);
  receive_from_1(ctx);
  ctx.stream->wait(*first);
  ctx.stream->wait(*second);
  ctx.stream->synchronize();
}

TEST(AbortOfCommunicators, EndsAWorldWithSeveralStreams_nccl) {
  if (mpi_process().size < 2) GTEST_SKIP() << "needs two ranks";
  if (const auto why = cuda_unavailable_reason(); !why.empty()) GTEST_SKIP() << why;
  const CudaOptions options{
      .ranks_per_gpu = 8, .memory_bytes = double{256 << 20}, .checked = false};
  const auto runtime = make_mpi_runtime({}, [&](Bootstrap& bootstrap, Waiter& waiter) {
    return make_cuda_accelerator(options, bootstrap, waiter);
  });
  EXPECT_THROW(runtime->launch(Layout(1, mpi_process().size), fail_while_streams_receive),
               std::out_of_range);
}

}  // namespace
}  // namespace trigram::nccl_abort_test
