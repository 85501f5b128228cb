// Every codec on a GPU produces the same wires and values as on the host.

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/check.h"
#include "core/codecs/registry.h"
#include "core/config/config_error.h"
#include "cuda/codecs/registry.h"
#include "tests/cuda/gpu.h"
#include "tests/support/codec_testing.h"

namespace trigram::test::codecs_test {
namespace {

std::vector<CodecSpec> specs() {
  return {
      {"minmax_uint8"},
      {"fp16"},
      {"bf16"},
      {"e3m0"},
      {"e3m0", {{"block", 34}}},
      {"int4"},
      {"int4", {{"block", 34}}},
      {"int4", {{"hadamard", 32}}},
      {"e3m0", {{"block", 40}, {"hadamard", 4}}},
      {"fp8_e4m3", {{"block", 48}, {"hadamard", 16}}},
      {"int2"},
      {"int2", {{"block", 36}}},
      {"fp8_e4m3"},
      {"fp8_e4m3", {{"block", 33}}},
      {"fp8_e5m2"},
      {"chunk_topk"},
      {"chunk_topk", {{"keep", 1001}}},
      {"dct_topk"},
      {"dct_topk", {{"keep", 1001}}},
      {"sign"},
      {"sign", {{"scale", "l1_mean"}}},
      {"sign", {{"scale", "one"}}},
      {"sign", {{"scale", "means"}}},
      {"qsgd"},
      {"qsgd", {{"levels", 7}, {"bucket", 100}}},
      {"qsgd", {{"levels", 1}, {"bucket", 1024}, {"norm", "max"}}},
      {"qsgd", {{"levels", 20}, {"bucket", 5000}, {"norm", "max"}}},
      {"qsgd", {{"levels", 100}, {"bucket", 4097}}},
      {"topk"},
      {"topk", {{"density", 0.3}}},
      {"topk", {{"density", 1.0}}},
      {"randk", {{"unbiased", false}}},
      {"randk", {{"density", 0.5}}},
      {"powersgd"},
      {"powersgd", {{"rank", 5}}},
  };
}

/// Short vectors that are difficult for a codec, with names.
std::vector<std::pair<std::string, Values>> special_vectors() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<std::pair<std::string, Values>> all = {
      {"zeros", Values(77, 0.f)},
      {"negative zeros", Values(77, -0.f)},
      {"ones", Values(1000, 1.f)},
      {"a constant beyond the grid", Values(100, 2e29f)},
      {"nearly constant", {1, 1.00001f, 1, 1.00001f, 1.000005f}},
      {"a wide range", {3e38f, -3e38f, 1, 0}},
      {"the largest", Values(40, -std::numeric_limits<float>::max())},
      {"one NaN", {0, 1, std::nanf(""), -1}},
      {"one infinity", {0, 1, -kInfinity, -1}},
      {"infinities", {kInfinity, -kInfinity, kInfinity}},
      // For these values, a product with the reciprocal differs from the quotient.
      {"far below zero", {-1e7f, -1e7f - 255, -1e7f - 100, -1e7f - 3}},
      {"far from zero", {1e6f, 1e6f + 1, 1e6f + 2, 1e6f + 3, 1e6f + 100}},
  };
  Values tiny = normals(2000, 1e-40f), ties(5000, 0.5f), signs(3000, 1.f), late = normals(3000);
  for (std::size_t i = 0; i < ties.size(); i += 7) ties[i] = i % 2 == 0 ? -0.5f : 0.25f;
  for (std::size_t i = 0; i < signs.size(); i += 3) signs[i] = -1;
  late.back() = std::nanf("");
  all.insert(all.end(), {{"denormals", tiny}, {"ties", ties}, {"signs", signs}, {"late", late}});
  return all;
}

class CudaCodecs : public ::testing::TestWithParam<CodecSpec> {
 protected:
  static constexpr CodecKey kKey = {7, 3, 12};
  /// Wires of 16-bit numbers need even addresses.
  bool allows_odd_addresses() const {
    return GetParam().name != "fp16" && GetParam().name != "bf16";
  }

  /// Encodes two vectors one after the other and decodes both, on the host and on the GPU.
  void expect_equal(const Values& values, std::size_t offset) {
    const std::size_t wire_offset = allows_odd_addresses() ? offset : 2 * offset;
    HostDevice host;
    const auto host_codec = host.codec(GetParam(), kKey);
    const auto codec = gpu_.device().codec(GetParam(), kKey);
    ASSERT_EQ(codec->wire_bytes(values.size()), host_codec->wire_bytes(values.size()));
    const Tensor x = to_tensor(host, values), wire = host_codec->empty_wire(host, x);
    const Tensor gpu_x = gpu_.tensor(values, offset);
    for (int turn = 0; turn < 2; ++turn) {
      host_codec->encode(wire, x);
      const auto bytes = wire.values<std::uint8_t>();
      const Tensor gpu_wire = gpu_.tensor(Bytes(bytes.size() + 64, 0xAB), wire_offset);
      codec->encode(gpu_wire.slice(0, bytes.size()), gpu_x);
      Bytes expected(bytes.begin(), bytes.end());
      expected.insert(expected.end(), 64, 0xAB);  // no byte after the wire may change
      ASSERT_TRUE(same_bytes(gpu_.values<std::uint8_t>(gpu_wire), expected)) << "turn " << turn;

      const Tensor decoded = host.empty(values.size());
      host.codec(GetParam(), {99, 99, 99})->decode(decoded, wire);
      Values output(values.size() + 16, 12345.f), expected_output = to_values(decoded);
      expected_output.insert(expected_output.end(), 16, 12345.f);
      const Tensor gpu_decoded = gpu_.tensor(output, offset);
      gpu_.device()
          .codec(GetParam(), {99, 99, 99})
          ->decode(gpu_decoded.slice(0, values.size()), gpu_wire.slice(0, bytes.size()));
      ASSERT_TRUE(same_values(gpu_.values<float>(gpu_decoded), expected_output)) << "turn " << turn;
    }
  }

  Gpu gpu_;
};

TEST(CudaCodecRegistry, HasEveryCodecAndNoOther) {
  Gpu gpu;
  for (const CodecEntry& entry : codecs()) {
    EXPECT_NE(gpu.device().codec({entry.name}), nullptr) << entry.name;
    EXPECT_TRUE(std::ranges::count(specs(), entry.name, &CodecSpec::name) > 0)
        << entry.name << " is not tested";
  }
  EXPECT_THROW(gpu.device().codec({"minmax"}), ConfigError);
}

TEST_P(CudaCodecs, EqualHostCodecsAtAwkwardLengths) {
  for (const std::size_t n : {0, 1, 2, 3, 31, 32, 33, 511, 513, 1023, 1024, 1025, 2049, 20001}) {
    SCOPED_TRACE(n);
    expect_equal(normals(n, 0.02f, 0.003f), 0);
  }
}

TEST_P(CudaCodecs, EqualHostCodecsAtAnyAddress) {
  for (const std::size_t n : {1, 30, 33, 1000, 5003}) {
    for (const std::size_t offset : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(n) + " from " + std::to_string(offset));
      expect_equal(normals(n), offset);
    }
  }
}

TEST_P(CudaCodecs, EqualHostCodecsOnSpecialValues) {
  for (const auto& [name, values] : special_vectors()) {
    SCOPED_TRACE(name);
    expect_equal(values, 0);
  }
}

TEST_P(CudaCodecs, RejectWiresOfAnotherLengthAndPhantoms) {
  const auto codec = gpu_.device().codec(GetParam(), kKey);
  const Tensor x = gpu_.tensor(normals(500));
  const std::size_t size = codec->wire_bytes(500);
  for (const std::size_t wrong : {size - 1, size + 1}) {
    EXPECT_THROW(codec->encode(gpu_.device().empty(wrong, DType::u8), x), InvariantError);
    EXPECT_THROW(codec->decode(x, gpu_.device().empty(wrong, DType::u8)), InvariantError);
  }
  EXPECT_THROW(
      codec->encode(gpu_.device().empty(size, DType::u8), Tensor::phantom(500, DType::f32, 500)),
      InvariantError);
}

std::string spec_name(const ::testing::TestParamInfo<CodecSpec>& tested) {
  std::string name = tested.param.name;
  for (const auto& [key, value] : tested.param.options.items())
    name += "_" + key + "_" + value.dump();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Codecs, CudaCodecs, ::testing::ValuesIn(specs()), spec_name);

}  // namespace
}  // namespace trigram::test::codecs_test
