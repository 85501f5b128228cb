// Encoded averages over a few steps, compared with plain loops over their equations.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "algorithms/execution/averages.h"
#include "core/random/philox.h"
#include "tests/oracles/coded_average_reference.h"
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
    const auto bytes = results_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
      const Exchange average = make();
      const Tensor x = ctx.device->empty(kNumel);
      std::string all;
      for (long step = 0; step < kSteps; ++step)
        for (int bucket = 0; bucket < kBuckets; ++bucket) {
          const Slot slot{bucket, step};
          const Vector mine = input(ctx.world_rank, slot);
          std::copy(mine.begin(), mine.end(), x.floats().begin());
          average(ctx, x, slot);
          all.append(reinterpret_cast<const char*>(x.data()), x.nbytes());
        }
      return all;
    });
    for (const std::string& other : bytes) EXPECT_EQ(other, bytes.at(0)) << "ranks differ";
    Vector values(kSteps * kBuckets * kNumel);
    std::memcpy(values.data(), bytes.at(0).data(), bytes.at(0).size());
    return values;
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
        const Coding coding{codec, feedback, kSeed};
        const Vector got =
            results([&] { return gathered ? gathered_average(coding) : coded_average(coding); });
        CodedAverageReference reference(codec, feedback, kSeed, all);
        std::size_t at = 0;
        for (long step = 0; step < kSteps; ++step)
          for (int bucket = 0; bucket < kBuckets; ++bucket) {
            std::vector<Vector> x;
            for (const int rank : all) x.push_back(input(rank, {bucket, step}));
            for (const float wanted : gathered ? reference.gathered(x, bucket, step)
                                               : reference.scattered(x, bucket, step)) {
              EXPECT_NEAR(got[at], wanted, 1e-5) << "step " << step << ", element " << at % kNumel;
              ++at;
            }
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedEquations, every_world(4, 8), world_test_name);

}  // namespace
}  // namespace trigram::test::coded_equations_test
