#include "core/workloads/bucketing.h"

#include <gtest/gtest.h>

#include "core/device/host_device.h"
#include "core/random/philox.h"

namespace trigram::bucketing_test {
namespace {

TEST(Buckets, HoldWholeTensorsUntilFull) {
  const std::vector<std::size_t> lengths = {3, 4, 1, 100, 2, 2};
  const auto ranges = cut_into_buckets(lengths, 112, 5 * 4);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].priced_count, 7u);    // 3, and then 4 more, which exceed the size
  EXPECT_EQ(ranges[1].priced_count, 101u);  // large tensors are not split
  EXPECT_EQ(ranges[2].priced_count, 4u);    // the rest
  EXPECT_EQ(ranges[1].first, 2u);
  EXPECT_EQ(ranges[1].last, 4u);
}

TEST(Buckets, TheFirstMayHaveItsOwnSize) {
  const std::vector<std::size_t> lengths = {3, 4, 1, 100, 2, 2};
  const auto ranges = cut_into_buckets(lengths, 112, {5 * 4, 1});
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges[0].priced_count, 3u);
  EXPECT_EQ(ranges[1].priced_count, 5u);
  EXPECT_EQ(ranges[2].priced_count, 100u);
  EXPECT_EQ(cut_into_buckets(lengths, 112, {0, 8 * 4}).size(),
            4u);  // one bucket of 8, then one tensor per bucket
}

TEST(Buckets, MayBeAnyGroupsOfTensors) {
  const std::vector<std::size_t> lengths = {3, 4, 1, 100, 2, 2}, tensors = {1, 3, 2};
  const auto ranges = cut_into_groups(lengths, 112, tensors);
  ASSERT_EQ(ranges.size(), 3u);
  std::size_t first = 0, begin = 0;
  const std::size_t counts[] = {3, 105, 4};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ranges[i].first, first);
    EXPECT_EQ(ranges[i].last, first + tensors[i]);
    EXPECT_EQ(ranges[i].begin, begin);
    EXPECT_EQ(ranges[i].count, counts[i]);
    EXPECT_EQ(ranges[i].priced_count, counts[i]);
    first += tensors[i];
    begin += counts[i];
  }
}

TEST(Buckets, CloseWhenExactlyFull) {
  const std::vector<std::size_t> lengths = {5, 5};
  EXPECT_EQ(cut_into_buckets(lengths, 10, 20).size(), 2u);
  EXPECT_EQ(cut_into_buckets(lengths, 10, 21).size(), 1u);
}

TEST(Buckets, ZeroBytesGiveOneBucketPerTensor) {
  const std::vector<std::size_t> lengths = {7, 1, 9};
  const auto ranges = cut_into_buckets(lengths, 17, 0);
  ASSERT_EQ(ranges.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ranges[i].count, lengths[i]);
}

TEST(Buckets, RealPartsCoverTheVectorWhateverItIsPricedAs) {
  Philox random(1, 0, 0, Purpose::data_set);
  int empty_buckets = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::size_t> lengths(1 + random.below(30));
    std::size_t priced = 0;
    for (auto& length : lengths) priced += length = 1 + random.below(1000);
    const std::size_t real = random.below(trial % 2 ? 20 : 5000);
    const auto ranges = cut_into_buckets(lengths, real, random.below(4000));
    std::size_t tensor = 0, begin = 0, priced_before = 0;
    for (const BucketRange& range : ranges) {
      EXPECT_EQ(range.first, tensor);
      EXPECT_EQ(range.begin, begin);
      std::size_t length = 0;
      for (std::size_t i = range.first; i < range.last; ++i) length += lengths[i];
      EXPECT_EQ(range.priced_count, length);
      priced_before += length;
      EXPECT_EQ(range.begin + range.count, real * priced_before / priced);
      tensor = range.last;
      begin += range.count;
      empty_buckets += range.count == 0;
    }
    EXPECT_EQ(tensor, lengths.size());
    EXPECT_EQ(begin, real);
  }
  EXPECT_GT(empty_buckets, 100);  // shows that the case has occurred
}

TEST(Buckets, LongVectorsDoNotOverflow) {
  const std::vector<std::size_t> lengths = {std::size_t{1} << 40, std::size_t{1} << 40};
  const auto ranges = cut_into_buckets(lengths, std::size_t{1} << 41, 0);
  EXPECT_EQ(ranges[0].count, std::size_t{1} << 40);
  EXPECT_EQ(ranges[1].count, std::size_t{1} << 40);
}

/// Three tensors of a model without data; `real` of their elements are stored.
class ThreeTensors final : public FlatWorkload {
 public:
  ThreeTensors(Device& device, std::size_t real)
      : FlatWorkload(device, {4, 6, 10}, real, {}, {1, 2, 5}) {
    bucketize(20);  // bytes; the first two tensors share a bucket
  }
  void forward(Context) override {}
  void backward(Context, const std::function<void(Bucket&)>&) override {}
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }
};

TEST(Buckets, KnowTheirTensorsUnlessTheyHaveThePricesOfOthers) {
  HostDevice host;
  ThreeTensors own(host, 20), priced(host, 7);
  ASSERT_EQ(own.buckets().size(), 2u);
  const auto& first = own.buckets()[0].tensors;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].begin, 0u);
  EXPECT_EQ(first[1].begin, 4u);
  EXPECT_EQ(first[1].numel, 6u);
  EXPECT_EQ(first[1].rows, 2u);
  EXPECT_TRUE(first[0].is_vector());
  const auto& second = own.buckets()[1].tensors;
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].begin, 0u);
  EXPECT_EQ(second[0].rows, 5u);
  for (const Bucket& bucket : priced.buckets()) EXPECT_TRUE(bucket.tensors.empty());
}

}  // namespace
}  // namespace trigram::bucketing_test
