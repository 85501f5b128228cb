// c_lp_s with every codec, compared with the same codecs applied in one loop over all ranks.

#include <cmath>

#include "algorithms/primitives/primitives.h"
#include "core/codecs/registry.h"
#include "tests/support/codec_testing.h"
#include "tests/support/worlds.h"

namespace trigram::test::primitives_codecs_test {
namespace {

struct Case {
  CodecSpec spec;
  /// ||result - mean|| divided by the norm of the inputs: the error of two encodings.
  double error;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{"minmax_uint8"}, 0.01},
      {{"fp16"}, 1e-3},
      {{"bf16"}, 1e-2},
      {{"sign"}, 1.5},
      {{"qsgd"}, 0.25},
      {{"qsgd", {{"levels", 7}, {"bucket", 16}}}, 0.6},
      {{"topk", {{"density", 0.5}}}, 0.8},
      {{"randk", {{"density", 0.9}, {"unbiased", false}}}, 0.8},
      {{"randk", {{"density", 0.9}}}, 1.0},
      {{"powersgd", {{"rank", 3}}}, 1.0},
      {{"e3m0"}, 0.3},
      {{"int4"}, 0.2},
      {{"int4", {{"hadamard", 32}}}, 0.25},
      {{"int2"}, 1.0},
      {{"fp8_e4m3"}, 0.06},
      {{"fp8_e5m2"}, 0.12},
      {{"chunk_topk"}, 1.0},
      {{"dct_topk"}, 1.0},
  };
  return all;
}

constexpr std::uint64_t kSeed = 7;
constexpr long kUse = 12;

Values input(int rank, std::size_t n) {
  Values x = normals(n + static_cast<std::size_t>(rank) * 10000, 1, 0.5f);
  x.resize(n);
  return x;
}

Values part(const Values& x, std::size_t j, std::size_t P) {
  const auto at = [&](std::size_t i) {
    return x.begin() + static_cast<std::ptrdiff_t>(x.size() * i / P);
  };
  return {at(j), at(j + 1)};
}

/// The codec of every rank encodes all parts of the rank in order, then the mean of its own part.
Values expected_mean(const CodecSpec& spec, const std::vector<Values>& inputs) {
  const std::size_t P = inputs.size();
  HostDevice device;
  std::vector<std::unique_ptr<Codec>> codecs;
  for (std::size_t r = 0; r < P; ++r) {
    codecs.push_back(device.codec(spec, {kSeed, static_cast<int>(r), kUse}));
  }
  const auto through = [&](std::size_t rank, const Values& values) {
    const Tensor x = to_tensor(device, values), wire = codecs[rank]->empty_wire(device, x);
    codecs[rank]->encode(wire, x);
    codecs[rank]->decode(x, wire);
    return to_values(x);
  };
  std::vector<Values> sums;
  for (std::size_t j = 0; j < P; ++j) sums.emplace_back(part(inputs[0], j, P).size(), 0.f);
  for (std::size_t r = 0; r < P; ++r) {
    for (std::size_t j = 0; j < P; ++j) {
      const Values decoded = through(r, part(inputs[r], j, P));
      for (std::size_t i = 0; i < decoded.size(); ++i) sums[j][i] += decoded[i];
    }
  }
  Values result;
  for (std::size_t j = 0; j < P; ++j) {
    for (float& v : sums[j]) v *= 1.0f / static_cast<float>(P);
    const Values merged = through(j, sums[j]);
    result.insert(result.end(), merged.begin(), merged.end());
  }
  return result;
}

class CodedPrimitives : public WorldTest {};

TEST_P(CodedPrimitives, CompressedScatterReduceWithEveryCodec) {
  const auto P = static_cast<std::size_t>(ranks());
  for (const auto& [spec, error] : cases()) {
    for (const std::size_t n : {0, 1, 5, 257, 2000}) {
      const std::string what = spec.name + spec.options.dump() + ", " + std::to_string(n);
      std::vector<Values> inputs;
      for (int r = 0; r < ranks(); ++r) inputs.push_back(input(r, n));
      const auto outputs =
          vectors_in_world(world(), flat_cluster(ranks()), [&, &coding = spec](Context ctx) {
            const Tensor x = tensor_of(ctx, inputs[static_cast<std::size_t>(ctx.world_rank)]);
            c_lp_s(ctx, x, *ctx.device->codec(coding, {kSeed, ctx.world_rank, kUse}));
            return to_values(x);
          });
      ASSERT_EQ(outputs.size(), P);
      Values mean(n, 0.f);
      const Values& result = outputs[0];
      ASSERT_EQ(result.size(), n) << what;
      for (const Values& output : outputs) EXPECT_TRUE(same_bits(output, result)) << what;
      const Values expected = P == 1 ? inputs[0] : expected_mean(spec, inputs);
      double norm = 0;
      for (const Values& x : inputs) {
        norm += std::sqrt(norm2_squared(x)) / static_cast<double>(P);
        for (std::size_t i = 0; i < n; ++i) mean[i] += x[i] / static_cast<float>(P);
      }
      EXPECT_LE(std::sqrt(distance_squared(result, expected)), 1e-6 * norm) << what;
      if (n < 257) continue;  // the parts are too short to show the typical error of their codec
      EXPECT_LE(std::sqrt(distance_squared(result, mean)), error * norm) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedPrimitives, every_world(1, 2, 3, 4), world_test_name);

TEST(CodedPrimitivesCases, NameEveryCodec) {
  for (const CodecEntry& entry : codecs()) {
    EXPECT_TRUE(std::any_of(cases().begin(), cases().end(), [&](const Case& c) {
      return c.spec.name == entry.name;
    })) << entry.name;
  }
}

}  // namespace
}  // namespace trigram::test::primitives_codecs_test
