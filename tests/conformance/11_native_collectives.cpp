// A world's native collectives do what their names say.

#include <gtest/gtest.h>

#include <vector>

#include "algorithms/collectives/collectives.h"
#include "core/subset.h"
#include "tests/support/collectives.h"

namespace trigram::test {
namespace {

class NativeCollectives : public CollectivesTest {};
INSTANTIATE_TEST_SUITE_P(Conformance11, NativeCollectives, every_variant(1, 2, 3, 4, 7, 8),
                         world_test_name);

/// Runs the collective if the world has it; expects the same answer on all ranks.
bool made_natively(Context ctx, const Collective& collective) {
  const bool has = ctx.comm->native(collective);
  const Tensor answers = ctx.device->empty(1);
  ctx.device->fill(answers, has ? 1.0f : 0.0f);
  ring_allreduce(ctx, answers, Reduce::sum);
  EXPECT_EQ(ctx.device->download(answers)[0], has ? static_cast<float>(ctx.size()) : 0.0f);
  return has;
}

TEST_P(NativeCollectives, AllreduceIsTheWorldsOwnOrARing) {
  for_each_length(
      [](Context ctx, std::size_t n) { expect_allreduces(ctx, n, AllreduceAlgorithm::native); });
}

/// A vector so long that a world may cut it into pieces, several of which are in flight.
TEST_P(NativeCollectives, AllreduceOfALongVector) {
  if (!has_native(world())) GTEST_SKIP() << "the ring is tried with shorter ones";
  run([](Context ctx) {
    std::vector<float> values(1'300'003);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 1021 + 2048 * static_cast<std::size_t>(ctx.rank()));
    const Tensor x = ctx.device->empty(values.size());
    ctx.device->upload(x, std::as_bytes(std::span(values)));
    allreduce(ctx, x, Reduce::sum, AllreduceAlgorithm::native);
    const auto sums = ctx.device->download(x);
    const auto ranks = static_cast<std::size_t>(ctx.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(sums[i], static_cast<float>(ranks * (i % 1021) + 1024 * ranks * (ranks - 1)))
          << "element " << i;
  });
}

/// MPI cannot detect this mistake. But a GPU that waits for a rank that never comes could not be
/// recovered.
TEST_P(NativeCollectives, OfUnequalLengthsEndOnGpus) {
  if (world() != "nccl" || ranks() == 1) GTEST_SKIP() << "of several GPUs";
  const WorldError e = error([](Context ctx) {
    const Tensor x = ctx.device->empty(ctx.rank() == 0 ? 100 : 101);
    ctx.device->fill(x, 1);
    ctx.comm->native({Collective::allreduce, x, Reduce::sum});
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
  EXPECT_NE(e.text.find("make different collectives on stream main"), std::string::npos) << e.text;
}

TEST_P(NativeCollectives, ReductionsReduce) {
  for_each_length([native = has_native(world())](Context ctx, std::size_t n) {
    const auto rank = static_cast<std::size_t>(ctx.rank());
    const auto of = static_cast<std::size_t>(ctx.size());
    for (Reduce op : {Reduce::sum, Reduce::avg, Reduce::max}) {
      const Tensor x = unique_tensor(ctx, n, ctx.rank()), y = unique_tensor(ctx, n, ctx.rank());
      const bool made = made_natively(ctx, {Collective::allreduce, x, op});
      EXPECT_EQ(made, native);
      if (made) expect_reduced(ctx, x, 0, op, ctx.size());
      if (made_natively(ctx, {Collective::reduce_scatter, y, op}))
        expect_reduced(ctx, y.part(rank, of), n * rank / of, op, ctx.size());
    }
  });
}

TEST_P(NativeCollectives, ExchangesMoveAnyElements) {
  for_each_length([](Context ctx, std::size_t n) {
    const auto rank = static_cast<std::size_t>(ctx.rank());
    const auto of = static_cast<std::size_t>(ctx.size());
    for (int root = 0; root < ctx.size(); ++root) {
      const Tensor x = unique_tensor(ctx, n, ctx.rank());
      if (made_natively(ctx, {.kind = Collective::broadcast, .x = x, .root = root}))
        expect_unique_values(ctx, x, root);
    }
    const Tensor whole = unique_tensor(ctx, n, 5), x = ctx.device->empty(n);
    const Tensor bytes = ctx.device->empty(n, DType::u8);
    ctx.device->fill(x, -1);
    ctx.device->copy(x.part(rank, of), whole.part(rank, of));
    ctx.device->fill(bytes.part(rank, of), static_cast<float>(rank));
    if (made_natively(ctx, {Collective::allgather, x})) expect_unique_values(ctx, x, 5);
    if (made_natively(ctx, {Collective::allgather, bytes})) {
      for (std::size_t i = 0; i < of; ++i)
        for (const auto value : ctx.device->download<std::uint8_t>(bytes.part(i, of)))
          ASSERT_EQ(value, i);
    }
  });
}

TEST_P(NativeCollectives, AllToAllTakesPartJToRankJ) {
  run([](Context ctx) {
    const std::size_t each = 1001, of = static_cast<std::size_t>(ctx.size());
    const Tensor x = unique_tensor(ctx, each * of, ctx.rank()), y = ctx.device->empty(each * of);
    if (!made_natively(ctx, {.kind = Collective::all_to_all, .x = x, .y = y})) return;
    const std::size_t begin = each * static_cast<std::size_t>(ctx.rank());
    for (int from = 0; from < ctx.size(); ++from) {
      const auto part = ctx.device->download(y.part(static_cast<std::size_t>(from), of));
      for (std::size_t i = 0; i < each; ++i)
        ASSERT_EQ(part[i], unique_value(from, begin + i)) << "from " << from;
    }
  });
}

/// Tensors are unchanged if a world refuses. All worlds refuse phantoms and subsets of the ranks.
TEST_P(NativeCollectives, RefusesPhantomsAndParts) {
  run([](Context ctx) {
    const Tensor phantom = Tensor::phantom(1000, DType::f32, 1000);
    EXPECT_FALSE(ctx.comm->native({Collective::allreduce, phantom}));
    std::vector<int> members;  // in another order, unless there is only one rank
    for (int r = ctx.size() - 1; r >= 0; --r) members.push_back(r);
    Subset backwards(*ctx.comm, members);
    const Tensor x = unique_tensor(ctx, 1000, ctx.rank());
    if (ctx.size() > 1) {
      EXPECT_FALSE(backwards.native({Collective::allreduce, x}));
      expect_unique_values(ctx, x, ctx.rank());
    }
    native_allreduce(ctx.with(backwards), x, Reduce::max);  // uses a ring
    expect_unique_values(ctx, x, ctx.size() - 1);
  });
}

}  // namespace
}  // namespace trigram::test
