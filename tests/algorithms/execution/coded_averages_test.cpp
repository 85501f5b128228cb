// Encoded averages over several steps. Error feedback keeps the loss of a code until it has been
// sent, bucket by bucket. Stochastic codecs draw new numbers in every step.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "algorithms/execution/averages.h"
#include "tests/support/worlds.h"

namespace trigram::test::coded_averages_test {
namespace {

constexpr int kRanks = 4, kBuckets = 2;
constexpr long kSteps = 200;
constexpr std::size_t kNumel = 40;

/// The input, which is the same in every step: element i of a rank's bucket.
double input(int rank, int bucket, std::size_t i) {
  return std::sin(0.9 * static_cast<double>(i) + rank + std::numbers::pi * bucket / 3) + 0.2 * rank;
}

double mean_input(int bucket, std::size_t i) {
  double sum = 0;
  for (int rank = 0; rank < kRanks; ++rank) sum += input(rank, bucket, i);
  return sum / kRanks;
}

/// The mean over the steps of rank 0's results, by bucket, concatenated.
std::vector<float> mean_output(const std::function<Exchange()>& make) {
  return vectors_in_world(
             "threads", flat_cluster(kRanks),
             [&](Context ctx) {
               const Exchange average = make();
               std::vector<float> sum(kBuckets * kNumel, 0.0f);
               const Tensor x = ctx.device->empty(kNumel);
               for (long step = 0; step < kSteps; ++step)
                 for (int bucket = 0; bucket < kBuckets; ++bucket) {
                   for (std::size_t i = 0; i < kNumel; ++i)
                     x.floats()[i] = static_cast<float>(input(ctx.world_rank, bucket, i));
                   average(ctx, x, {bucket, step});
                   for (std::size_t i = 0; i < kNumel; ++i)
                     sum[static_cast<std::size_t>(bucket) * kNumel + i] += x.floats()[i] / kSteps;
                 }
               return sum;
             })
      .at(0);
}

/// The largest distance of the mean output from the mean input.
double error(const std::function<Exchange()>& make) {
  const auto output = mean_output(make);
  double largest = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket)
    for (std::size_t i = 0; i < kNumel; ++i)
      largest = std::max(largest, std::abs(output[static_cast<std::size_t>(bucket) * kNumel + i] -
                                           mean_input(bucket, i)));
  return largest;
}

/// The unsent amount is bounded, so with feedback the mean over t steps has an error of O(1/t).
/// Without feedback, a biased codec makes the same error in every step.
TEST(CodedAverages, ErrorFeedbackSendsEverythingInTheEnd) {
  for (const bool gathered : {false, true})
    for (const CodecSpec& codec : {CodecSpec{"sign"}, CodecSpec{"topk", {{"density", 0.2}}}}) {
      SCOPED_TRACE(testing::Message() << codec.name << (gathered ? " gathered" : " scattered"));
      const auto with = [&](bool feedback) {
        return error([&] {
          const Coding coding{codec, feedback, 7};
          return gathered ? gathered_average(coding) : coded_average(coding);
        });
      };
      EXPECT_LT(with(true), 0.1);
      EXPECT_GT(with(false), 0.2);
    }
}

/// One encoding has an error of a third of the norm of the part; the mean of 200 independent
/// encodings has a small error.
TEST(CodedAverages, StochasticCodesDrawNewNumbersEveryStep) {
  EXPECT_LT(error([] {
              return coded_average({CodecSpec{"qsgd", {{"levels", 1}}}, false, 7});
            }),
            0.6);
}

}  // namespace
}  // namespace trigram::test::coded_averages_test
