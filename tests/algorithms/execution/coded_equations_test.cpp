// Encoded averages over a few steps, compared with plain loops over their equations.

#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/execution/averages.h"
#include "core/random/philox.h"
#include "tests/oracles/coded_average_reference.h"
#include "tests/support/codec_testing.h"
#include "tests/support/worlds.h"

namespace trigram::test::coded_equations_test {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kBuckets = 2;
constexpr long kSteps = 3;
constexpr std::size_t kNumel = 43;  // parts differ in length

using Vector = std::vector<float>;

Vector input(int rank, Slot slot) {
  Philox random(1, rank, slot.step * kBuckets + slot.bucket, Purpose::gradient_noise);
  Vector x(kNumel);
  for (float& v : x) v = random.normal();
  return x;
}

const CodecSpec kCodecs[] = {
    {"sign"}, {"topk", {{"density", 0.2}}}, {"qsgd", {{"levels", 7}}}, {"minmax_uint8"}};

class CodedEquations : public WorldTest {
 protected:
  /// Rank 0's results, bucket by bucket in every step, concatenated.
  Vector results(const std::function<Exchange()>& make) {
    const auto by_rank = vectors_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
      const Exchange average = make();
      Vector all;
      for (long step = 0; step < kSteps; ++step)
        for (int bucket = 0; bucket < kBuckets; ++bucket) {
          const Slot slot{bucket, step};
          const Tensor x = tensor_of(ctx, input(ctx.world_rank, slot));
          average(ctx, x, slot);
          all.insert(all.end(), x.floats().begin(), x.floats().end());
        }
      return all;
    });
    for (const Vector& values : by_rank) EXPECT_TRUE(same_bits(values, by_rank.at(0)));
    return by_rank.at(0);
  }
};

TEST_P(CodedEquations, HoldStepByStep) {
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  for (const CodecSpec& codec : kCodecs)
    for (const bool gathered : {false, true})
      for (const bool feedback : {false, true}) {
        SCOPED_TRACE(testing::Message() << codec.name << (gathered ? " gathered" : " scattered")
                                        << (feedback ? ", feedback" : ""));
        const Vector actual = results([&] {
          const Coding coding{codec, feedback, kSeed};  // each rank has its own residuals
          return gathered ? gathered_average(coding) : coded_average(coding);
        });
        CodedAverageReference reference(codec, feedback, kSeed, all);
        std::size_t at = 0;
        for (long step = 0; step < kSteps; ++step)
          for (int bucket = 0; bucket < kBuckets; ++bucket) {
            std::vector<Vector> x;
            for (const int rank : all) x.push_back(input(rank, {bucket, step}));
            for (const float expected : gathered ? reference.gathered(x, bucket, step)
                                                 : reference.scattered(x, bucket, step)) {
              EXPECT_NEAR(actual[at], expected, 1e-5)
                  << "step " << step << ", element " << at % kNumel;
              ++at;
            }
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedEquations, every_world(4, 8), world_test_name);

}  // namespace
}  // namespace trigram::test::coded_equations_test
