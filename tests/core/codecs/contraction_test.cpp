// Which codecs are contractions, that is, lose less than their input, and so support error
// feedback.

#include "core/codecs/registry.h"
#include "tests/support/codec_testing.h"

namespace trigram::test::contraction_test {
namespace {

/// The mean of |x - Q(x)|^2 / |x|^2.
double loss(const CodecSpec& spec, const Values& x) {
  constexpr int kDraws = 200;
  double sum = 0;
  for (int use = 0; use < kDraws; ++use)
    sum += distance_squared(x, code(spec, x, {1, 0, use}).decoded);
  return sum / kDraws / norm2_squared(x);
}

Values with_first(Values x, float first) {
  x.front() = first;
  return x;
}

CodecSpec qsgd(const char* norm, int levels, int bucket) {
  return {"qsgd", {{"norm", norm}, {"levels", levels}, {"bucket", bucket}}};
}
CodecSpec randk(double density, bool unbiased) {
  return {"randk", {{"density", density}, {"unbiased", unbiased}}};
}

TEST(Contraction, ContractionsLoseLessThanTheWholeOfAnyVector) {
  for (const CodecSpec& spec : {CodecSpec{"minmax_uint8"},
                                CodecSpec{"fp16"},
                                CodecSpec{"bf16"},
                                CodecSpec{"topk"},
                                CodecSpec{"e3m0"},
                                CodecSpec{"int4"},
                                CodecSpec{"int4", {{"hadamard", 16}}},
                                CodecSpec{"int2"},
                                CodecSpec{"int2", {{"hadamard", 32}}},
                                CodecSpec{"fp8_e4m3"},
                                CodecSpec{"fp8_e5m2"},
                                CodecSpec{"chunk_topk"},
                                CodecSpec{"dct_topk"},
                                CodecSpec{"powersgd"},
                                CodecSpec{"sign", {{"scale", "l1_mean"}}},
                                CodecSpec{"sign", {{"scale", "means"}}},
                                CodecSpec{"qsgd"},
                                qsgd("l2", 12, 512),
                                qsgd("max", 9, 512),
                                qsgd("l2", 1, 3),
                                randk(0.01, false),
                                randk(0.6, true)}) {
    EXPECT_TRUE(is_contraction(spec)) << spec.name << spec.options;
    for (const float first : {1.f, 0.01f, 20.f, 4 * 9.f})
      EXPECT_LT(loss(spec, with_first(Values(512, 1.f), first)), 1)
          << spec.name << spec.options << first;
    EXPECT_LT(loss(spec, normals(512)), 1) << spec.name << spec.options;
  }
}

/// Elements of 0 among the kept ones must stay near 0.
TEST(Contraction, FewElementsAmongZerosLoseLessThanTheWhole) {
  for (const char* name : {"chunk_topk", "dct_topk", "topk"}) {
    Values few(4096, 0.f);
    few[5] = 1;
    EXPECT_LT(loss({name}, few), 1) << name;
    for (std::size_t i = 0; i < 10; ++i) few[400 * i] = normals(10)[i];
    EXPECT_LT(loss({name}, few), 1) << name;
    EXPECT_LT(loss({name}, with_first(Values(4096, 1.f), 100)), 1) << name;
  }
}

/// Uses the vectors on which each codec loses most.
TEST(Contraction, OtherCodecsCanLoseMoreThanTheWhole) {
  const CodecSpec bare_signs{"sign", {{"scale", "one"}}};
  EXPECT_FALSE(is_contraction(bare_signs));
  EXPECT_GT(loss(bare_signs, Values(512, 0.25f)), 1.01);
  EXPECT_FALSE(is_contraction(randk(0.4, true)));
  EXPECT_FALSE(is_contraction({"randk"}));
  EXPECT_GT(loss(randk(0.4, true), normals(512)), 1.2);
  for (const int levels : {1, 3, 7, 11}) {
    EXPECT_FALSE(is_contraction(qsgd("l2", levels, 512))) << levels;
    EXPECT_GT(loss(qsgd("l2", levels, 512), Values(512, 1.f)), 1.01) << levels;
  }
  // One element is at the norm, and the other elements are at a quarter of a level.
  for (const int levels : {1, 3, 7}) {
    EXPECT_FALSE(is_contraction(qsgd("max", levels, 512))) << levels;
    EXPECT_GT(loss(qsgd("max", levels, 512),
                   with_first(Values(512, 1.f), 4 * static_cast<float>(levels))),
              1.01)
        << levels;
  }
}

}  // namespace
}  // namespace trigram::test::contraction_test
