// The data plane: messages arrive unchanged and in order, and nothing else changes.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class TransferTest : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance02, TransferTest, every_variant(1, 2, 3, 4, 7, 8),
                         world_test_name);

int next(const Context& ctx) { return (ctx.rank() + 1) % ctx.size(); }
int previous(const Context& ctx) { return (ctx.rank() + ctx.size() - 1) % ctx.size(); }

/// One batch that sends `out` to the next rank and receives `in` from the previous rank. If there
/// is only one rank, it sends to itself.
void shift(const Context& ctx, const Tensor& out, const Tensor& in) {
  const Transfer batch[] = {{Transfer::send, out, next(ctx)}, {Transfer::recv, in, previous(ctx)}};
  ctx.comm->transfer(batch);
}

TEST_P(TransferTest, RingShiftOfAnyLength) {
  run([](Context ctx) {
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{100003}}) {
      const Tensor in = ctx.device->empty(n);
      shift(ctx, unique_tensor(ctx, n, ctx.rank()), in);
      expect_unique_values(ctx, in, previous(ctx));
    }
  });
}

TEST_P(TransferTest, OneBatchExchangesWithAllPeers) {
  run([](Context ctx) {
    constexpr std::size_t kCount = 50;
    std::vector<Transfer> batch;
    for (int peer = 0; peer < ctx.size(); ++peer) {
      batch.push_back({Transfer::send, unique_tensor(ctx, kCount, ctx.rank() * 10 + peer), peer});
      batch.push_back({Transfer::recv, ctx.device->empty(kCount), peer});
    }
    ctx.comm->transfer(batch);
    for (const Transfer& t : batch)
      if (t.kind == Transfer::recv) expect_unique_values(ctx, t.tensor, t.peer * 10 + ctx.rank());
  });
}

TEST_P(TransferTest, KeepsOrderWithinAndBetweenBatches) {
  run([](Context ctx) {
    for (int round = 0; round < 10; ++round) {
      std::vector<Transfer> batch;
      for (int i = 0; i < 3; ++i) {
        batch.push_back({Transfer::send, unique_tensor(ctx, 5, round * 3 + i), next(ctx)});
        batch.push_back({Transfer::recv, ctx.device->empty(5), previous(ctx)});
      }
      ctx.comm->transfer(batch);
      for (int i = 0; i < 3; ++i)
        expect_unique_values(ctx, batch[static_cast<std::size_t>(2 * i + 1)].tensor, round * 3 + i);
    }
  });
}

TEST_P(TransferTest, OneSidedBatchesMeet) {
  run([](Context
             ctx) {  // a chain: every rank but the last forwards the tensor that it has received
    const Tensor x = unique_tensor(ctx, 100, ctx.rank());
    if (ctx.rank() > 0)
      ctx.comm->transfer(std::vector<Transfer>{{Transfer::recv, x, previous(ctx)}});
    if (ctx.rank() + 1 < ctx.size())
      ctx.comm->transfer(std::vector<Transfer>{{Transfer::send, x, next(ctx)}});
    expect_unique_values(ctx, x, 0);
  });
}

TEST_P(TransferTest, AnEmptyBatchIsNothing) {
  run([this](Context ctx) {
    const double before_s = ctx.stream->now();
    ctx.comm->transfer({});
    if (simulated()) {
      EXPECT_EQ(ctx.stream->now(), before_s) << "an empty batch takes time";
    }
    const Tensor first = ctx.device->empty(100), second = ctx.device->empty(100);
    shift(ctx, unique_tensor(ctx, 100, ctx.rank()), first);
    if (ctx.rank() == 0) ctx.comm->transfer({});  // this batch has no counterpart on other ranks
    shift(ctx, unique_tensor(ctx, 100, ctx.rank() + 10), second);
    expect_unique_values(ctx, first, previous(ctx));
    expect_unique_values(ctx, second, previous(ctx) + 10);
  });
}

TEST_P(TransferTest, SendsWhatTheTensorHeldAtTheCall) {
  run([](Context ctx) {
    const Tensor x = unique_tensor(ctx, 1000, ctx.rank());
    shift(ctx, x, x);  // received into the tensor that the same batch sends
    expect_unique_values(ctx, x, previous(ctx));

    const Tensor out = unique_tensor(ctx, 1000, ctx.rank());
    const Tensor in = ctx.device->empty(1000);
    if (ctx.rank() == ctx.size() - 1)
      ctx.stream->sleep_for(0.01);  // the previous and the next rank are earlier
    shift(ctx, out, in);
    ctx.device->fill(out, -1);
    ctx.stream->sleep_for(0.001);
    expect_unique_values(ctx, in, previous(ctx));
  });
}

TEST_P(TransferTest, WritesNothingButTheReceivedSlice) {
  run([](Context ctx) {
    const Tensor buffer = ctx.device->empty(300);
    ctx.device->fill(buffer, -1);
    shift(ctx, unique_tensor(ctx, 100, ctx.rank()), buffer.slice(100, 100));
    expect_unique_values(ctx, buffer.slice(100, 100), previous(ctx));
    const auto values = ctx.device->download(buffer);
    for (std::size_t i = 0; i < 300; ++i)
      if (i < 100 || i >= 200) {
        ASSERT_EQ(values[i], -1.0f) << "element " << i;
      }
  });
}

TEST_P(TransferTest, CarriesEveryElementTypeBitByBit) {
  run([](Context ctx) {
    for (DType type : {DType::u8, DType::f16, DType::bf16, DType::f32}) {
      const Tensor out = ctx.device->empty(257, type), in = ctx.device->empty(257, type);
      const auto byte = [](int rank, std::size_t i) {
        return static_cast<std::byte>((static_cast<std::size_t>(rank) * 31 + i * 7) % 256);
      };
      std::vector<std::byte> bytes(out.nbytes());
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte(ctx.rank(), i);
      ctx.device->upload(out, bytes);
      shift(ctx, out, in);
      const auto received = ctx.device->download<std::byte>(in);
      for (std::size_t i = 0; i < received.size(); ++i)
        ASSERT_EQ(received[i], byte(previous(ctx), i)) << "byte " << i;
    }
  });
}

TEST_P(TransferTest, CarriesPhantomsAndPricedTensors) {
  run([](Context ctx) {
    const std::size_t large = std::size_t{1} << 28;  // with values this would be a gibibyte
    const Tensor phantom = Tensor::phantom(large, DType::f32, large);
    shift(ctx, phantom, Tensor::phantom(large, DType::f32, large));
    EXPECT_TRUE(phantom.is_phantom());

    const Tensor out = ctx.device->empty(10, DType::f32, 1000000);
    const Tensor in = ctx.device->empty(10, DType::f32, 1000000);
    ctx.device->copy(out, unique_tensor(ctx, 10, ctx.rank()));
    shift(ctx, out, in);
    expect_unique_values(ctx, in, previous(ctx));

    shift(ctx, ctx.device->empty(0, DType::f32, 5), ctx.device->empty(0, DType::f32, 5));
  });
}

/// Rank 0 sends `sent` to the last rank, which expects `expected`; the other ranks wait for rank 0.
Task mismatch(const Tensor& sent, const Tensor& expected) {
  return [=](Context ctx) {
    const int last = ctx.size() - 1;
    const Tensor late = Tensor::phantom(1, DType::f32, 1);
    std::vector<Transfer> batch;
    if (ctx.rank() == 0) batch.push_back({Transfer::send, sent, last});
    if (ctx.rank() == last) batch.push_back({Transfer::recv, expected, 0});
    if (batch.empty()) batch.push_back({Transfer::recv, late, 0});
    ctx.comm->transfer(batch);
    if (ctx.rank() == 0 && ctx.size() > 1)
      ctx.comm->transfer(std::vector<Transfer>{{Transfer::recv, late, last}});
  };
}

TEST_P(TransferTest, RefusesHalvesThatDoNotMatch) {
  const Tensor x = Tensor::phantom(4, DType::f32, 4);
  const std::pair<Tensor, Tensor> pairs[] = {{x, Tensor::phantom(5, DType::f32, 5)},
                                             {x, Tensor::phantom(4, DType::u8, 4)},
                                             {x, Tensor::phantom(4, DType::f32, 40)}};
  for (const auto& [sent, expected] : pairs) {
    const WorldError e = error(mismatch(sent, expected));
    EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
    EXPECT_NE(e.text.find("rank 0 sent 4 x f32"), e.text.npos) << e.text;
    EXPECT_NE(e.text.find("rank " + std::to_string(ranks() - 1) + " expected"), e.text.npos)
        << e.text;
  }
}

TEST_P(TransferTest, RefusesABatchWhoseFirstHalfDoesNotMatch) {
  if (ranks() == 1) GTEST_SKIP() << "takes two ranks";
  const WorldError e = error([&](Context ctx) {
    const Tensor four = Tensor::phantom(4, DType::f32, 4), five = Tensor::phantom(5, DType::f32, 5);
    if (ctx.rank() == 1) ctx.comm->transfer(std::vector<Transfer>{{Transfer::send, five, 0}});
    if (ctx.rank() != 0) return;
    ctx.stream->sleep_for(0.01);  // rank 1's message has arrived: the receive fails before the send
    ctx.comm->transfer(std::vector<Transfer>{{Transfer::recv, four, 1}, {Transfer::send, four, 1}});
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
}

TEST_P(TransferTest, RefusesAPeerOutsideTheWorld) {
  const WorldError e = error([&](Context ctx) {
    ctx.comm->transfer(std::vector<Transfer>{{Transfer::send, Tensor{}, ctx.size()}});
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
}

}  // namespace
}  // namespace trigram::test
