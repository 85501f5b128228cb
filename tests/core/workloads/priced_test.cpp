#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/device/timed_device.h"
#include "core/workloads/registry.h"
#include "tests/support/config_errors.h"
#include "tests/support/idx_files.h"
#include "tests/support/lone_rank.h"

namespace trigram::priced_test {
namespace {

using test::IdxFolder;
using test::LoneRank;
using test::RecordingStream;

/// The workload of one rank on a small data set.
struct Trained {
  Trained(const IdxFolder& folder, Json options, bool phantom = false)
      : device(phantom ? static_cast<Device*>(&null) : &host),
        timed(*device, rank.stream),
        rank(timed) {
    options["name"] = "fashion_mnist";
    options["data"] = folder.path().string();
    options["batch"] = 4;
    options["values"] = !phantom;
    factory = make_workload_factory(resolve_workload(options, "", "/"), "/w");
    workload = factory->make(rank.ctx, 1);
  }
  /// Runs a step. Returns the time on the rank's clock at which each bucket was reported.
  std::vector<double> step() {
    std::vector<double> ready;
    workload->forward(rank.ctx);
    workload->backward(rank.ctx, [&](Bucket&) { ready.push_back(rank.stream.computed_s); });
    return ready;
  }

  HostDevice host;
  NullDevice null;
  Device* device;
  TimedDevice timed;
  LoneRank rank;
  std::unique_ptr<WorkloadFactory> factory;
  std::unique_ptr<Workload> workload;
};

std::vector<float> values(const Tensor& x) { return {x.floats().begin(), x.floats().end()}; }

TEST(PricedWorkload, HasTheBucketsAndTimesOfTheProfile) {
  IdxFolder folder;
  Trained priced(folder, {{"priced_as", "bert_large"}});
  NullDevice null;
  LoneRank alone(null);
  const auto profile =
      make_workload_factory(resolve_workload("bert_large", "", "/"), "")->make(alone.ctx, 1);
  for (Workload* w : {priced.workload.get(), profile.get()}) w->bucketize(10u << 20);
  ASSERT_EQ(priced.workload->buckets().size(), profile->buckets().size());
  std::size_t real = 0, cumulative = 0;
  for (std::size_t i = 0; i < profile->buckets().size(); ++i) {
    const Bucket& bucket = priced.workload->buckets()[i];
    EXPECT_EQ(bucket.grad.priced_numel(), profile->buckets()[i].grad.numel());
    EXPECT_EQ(bucket.weight.data() - priced.workload->weights().data(),
              static_cast<std::ptrdiff_t>(real * sizeof(float)));
    real += bucket.grad.numel();
    cumulative += bucket.grad.priced_numel();
    EXPECT_EQ(real, priced.workload->weights().numel() * cumulative / 334'094'338u);
  }
  EXPECT_EQ(priced.workload->weights().priced_numel(), 334'094'338u);
  EXPECT_EQ(priced.workload->weights().numel(), 36u * 64 + 64 + 64 * 3 + 3);

  const auto ready = priced.step();
  profile->forward(alone.ctx);
  std::size_t i = 0;
  profile->backward(alone.ctx, [&](Bucket&) { EXPECT_EQ(ready.at(i++), alone.stream.computed_s); });
  EXPECT_NEAR(priced.rank.stream.computed_s, 0.53, 1e-9);
  EXPECT_TRUE(priced.rank.stream.charged.empty());  // the real model's operations are free
}

/// A stream in real time, on which each pass of a real model takes the same time.
struct RealTimeStream : RecordingStream {
  explicit RealTimeStream(double seconds_per_pass) : pass_s(seconds_per_pass) {}
  double now() const override { return passed_s += pass_s; }
  double pass_s;
  mutable double passed_s = 0;
};

TEST(PricedWorkload, InRealTimeTheModelsTimeCountsTowardsLayerTimes) {
  IdxFolder folder;
  for (const auto& [pass_s, computed_s] : {std::pair{0.01, 0.51}, {1.0, 0.0}}) {
    Trained priced(folder, {{"priced_as", "bert_large"}});
    priced.workload->bucketize(10u << 20);
    RealTimeStream stream(pass_s);
    priced.rank.ctx.stream = &stream;
    for (int step = 1; step <= 3; ++step) {
      priced.step();
      EXPECT_NEAR(stream.computed_s, step * computed_s, 1e-9) << "each step starts anew";
    }
  }
}

TEST(PricedWorkload, GradientsAreTheModelsOwnAndFinalWhenReported) {
  IdxFolder folder;
  Trained priced(folder, {{"priced_as", "vgg16"}}), plain(folder, Json::object());
  priced.workload->bucketize(0);
  plain.workload->bucketize(0);
  EXPECT_EQ(values(priced.workload->weights()), values(plain.workload->weights()));
  for (int step = 0; step < 3; ++step) {
    plain.step();
    std::vector<float> seen;
    priced.workload->forward(priced.rank.ctx);
    priced.workload->backward(priced.rank.ctx, [&](Bucket& bucket) {
      for (float g : bucket.grad.floats()) seen.push_back(g);
    });
    EXPECT_EQ(seen, values(plain.workload->gradients()));
    EXPECT_EQ(priced.workload->loss(), plain.workload->loss());
  }
}

/// Forward awaits the buckets from the last to the first, each just before the time of its own
/// layers. The real model computes with the weights at the end of the pass.
TEST(PricedWorkload, ForwardAwaitsEachBucketBeforeItsLayers) {
  IdxFolder folder;
  Trained by_bucket(folder, {{"priced_as", "vgg16"}}), whole(folder, {{"priced_as", "vgg16"}});
  for (Trained* t : {&by_bucket, &whole}) t->workload->bucketize(0);
  const auto buckets = static_cast<int>(by_bucket.workload->buckets().size());
  const std::vector<float> weights = values(by_bucket.workload->weights());
  std::fill_n(by_bucket.workload->weights().floats().begin(), weights.size(), 0.0f);
  std::vector<double> asked_s;
  by_bucket.workload->forward_by_bucket(by_bucket.rank.ctx, [&](Bucket& bucket) {
    EXPECT_EQ(bucket.index, buckets - 1 - static_cast<int>(asked_s.size()));
    asked_s.push_back(by_bucket.rank.stream.computed_s);
    const auto begin = bucket.weight.data() - by_bucket.workload->weights().data();
    std::copy_n(weights.begin() + begin / static_cast<std::ptrdiff_t>(sizeof(float)),
                bucket.weight.numel(), bucket.weight.floats().begin());
  });
  whole.workload->forward(whole.rank.ctx);
  ASSERT_EQ(asked_s.size(), 32u) << "the tensors of VGG16";
  EXPECT_EQ(asked_s[0], 0);
  EXPECT_GT(asked_s[2], 0) << "after weight and bias of the first layer";
  EXPECT_TRUE(std::is_sorted(asked_s.begin(), asked_s.end()));
  EXPECT_NEAR(by_bucket.rank.stream.computed_s, whole.rank.stream.computed_s, 1e-12);
  for (Trained* t : {&by_bucket, &whole}) t->workload->backward(t->rank.ctx, [](Bucket&) {});
  EXPECT_EQ(by_bucket.workload->loss(), whole.workload->loss());
}

TEST(Workloads, ForwardOfAModelAwaitsAllBucketsFirst) {
  IdxFolder folder;
  Trained plain(folder, Json::object());
  plain.workload->bucketize(0);
  std::vector<int> asked;
  plain.workload->forward_by_bucket(plain.rank.ctx, [&](Bucket& bucket) {
    asked.push_back(bucket.index);
    EXPECT_TRUE(plain.rank.stream.charged.empty());
  });
  EXPECT_EQ(asked, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_FALSE(plain.rank.stream.charged.empty());
}

TEST(PricedWorkload, BucketsMayHoldNoRealElement) {
  HostDevice host;
  LoneRank rank(host);
  const Json j = {{"name", "quadratic"}, {"dimension", 4}, {"priced_as", "bert_large"}};
  const auto w = make_workload_factory(resolve_workload(j, "", "/"), "")->make(rank.ctx, 1);
  w->bucketize(0);
  std::size_t empty = 0, real = 0;
  w->forward(rank.ctx);
  w->backward(rank.ctx, [&](Bucket& bucket) {
    empty += bucket.grad.numel() == 0;
    real += bucket.grad.numel();
    EXPECT_FALSE(bucket.grad.is_phantom());
  });
  EXPECT_EQ(real, 4u);
  EXPECT_GE(empty, 387u);
}

TEST(Phantom, HasTheSizesAndTheChargesOfTheValuedModel) {
  IdxFolder folder;
  for (const char* model : {"mlp", "cnn"}) {
    for (const Json& priced_as : {Json(), Json("vgg16")}) {
      const Json options = {{"model", model}, {"priced_as", priced_as}};
      Trained valued(folder, options), phantom(folder, options, true);
      EXPECT_TRUE(valued.workload->has_values());
      EXPECT_FALSE(phantom.workload->has_values());
      for (Trained* t : {&valued, &phantom}) t->workload->bucketize(1000);
      EXPECT_EQ(valued.step(), phantom.step());
      EXPECT_TRUE(phantom.workload->weights().is_phantom());
      EXPECT_EQ(phantom.workload->weights().numel(), valued.workload->weights().numel());
      EXPECT_EQ(phantom.workload->buckets().size(), valued.workload->buckets().size());
      const auto &a = valued.rank.stream.charged, &b = phantom.rank.stream.charged;
      EXPECT_EQ(a.empty(), priced_as.is_string());
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].bytes, b[i].bytes);
        EXPECT_EQ(a[i].flops, b[i].flops);
      }
      EXPECT_TRUE(std::isnan(phantom.workload->loss()));
      EXPECT_TRUE(std::isnan(phantom.workload->evaluate({}, kAllSamples).loss));
      EXPECT_FALSE(phantom.workload->evaluate({}, kAllSamples).accuracy.has_value());
    }
  }
}

TEST(Phantom, QuadraticIsChargedLikeTheValuedModel) {
  Json j = {{"name", "quadratic"}, {"noise", 1}};
  std::vector<Cost> charged[2];
  for (const bool values : {false, true}) {
    j["values"] = values;
    HostDevice host;
    NullDevice null;
    RecordingStream stream;
    TimedDevice device(values ? static_cast<Device&>(host) : null, stream);
    LoneRank rank(device);
    const auto w = make_workload_factory(resolve_workload(j, "", "/"), "")->make(rank.ctx, 1);
    w->bucketize(0);
    w->forward(rank.ctx);
    w->backward(rank.ctx, [](Bucket&) {});
    charged[values] = stream.charged;
  }
  EXPECT_FALSE(charged[true].empty());
  ASSERT_EQ(charged[true].size(), charged[false].size());
  for (std::size_t i = 0; i < charged[true].size(); ++i) {
    EXPECT_EQ(charged[true][i].bytes, charged[false][i].bytes);
    EXPECT_EQ(charged[true][i].flops, charged[false][i].flops);
  }
}

TEST(Workloads, BucketsOfAModelAreReportedAsSoonAsTheyAreComplete) {
  IdxFolder folder;
  Trained plain(folder, {{"hidden", {8, 8}}});
  plain.workload->bucketize(0);
  std::vector<std::size_t> charged;  // number of operations done when each bucket was reported
  plain.workload->forward(plain.rank.ctx);
  plain.workload->backward(plain.rank.ctx, [&](Bucket& bucket) {
    EXPECT_EQ(bucket.index, static_cast<int>(charged.size()));
    charged.push_back(plain.rank.stream.charged.size());
  });
  ASSERT_EQ(charged.size(), 6u);
  for (std::size_t i = 1; i < charged.size(); ++i) EXPECT_LT(charged[i - 1], charged[i]);
}

TEST(Workloads, RanksHaveEqualWeightsAndDifferentSamples) {
  IdxFolder folder;
  const Json j = {{"name", "fashion_mnist"}, {"data", folder.path().string()}, {"batch", 4}};
  const auto factory = make_workload_factory(resolve_workload(j, "", "/"), "/w");
  HostDevice host;
  LoneRank a(host, 0, 2), b(host, 1, 2);
  const auto first = factory->make(a.ctx, 1), second = factory->make(b.ctx, 1);
  EXPECT_EQ(values(first->weights()), values(second->weights()));
  EXPECT_NE(values(first->weights()), values(factory->make(a.ctx, 2)->weights()));
  first->bucketize(0);
  second->bucketize(0);
  first->forward(a.ctx);
  second->forward(b.ctx);
  EXPECT_NE(first->loss(), second->loss());
  EXPECT_EQ(factory->input_files().size(), 4u);
}

TEST(Workloads, TooFewSamplesForTheRanksAreAnError) {
  IdxFolder folder;
  const Json j = {{"name", "fashion_mnist"}, {"data", folder.path().string()}, {"batch", 5}};
  const auto factory = make_workload_factory(resolve_workload(j, "", "/"), "/w");
  EXPECT_NO_THROW(factory->check_ranks(8));
  EXPECT_THAT(test::config_error_text([&] { factory->check_ranks(9); }),  // only 40 images
              ::testing::StartsWith("/w/batch: "));
}

}  // namespace
}  // namespace trigram::priced_test
