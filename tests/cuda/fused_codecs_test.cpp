// Fused codec operations on a GPU give the same bits as the separate operations on the host.

#include <limits>

#include "core/codecs/registry.h"
#include "cuda/codecs/minmax_uint8.h"
#include "cuda/codecs/tables.h"
#include "tests/cuda/gpu.h"
#include "tests/support/codec_testing.h"

namespace trigram::test::fused_codecs_test {
namespace {

constexpr CodecKey kKey = {7, 3, 12};

Bytes bytes_of(const Tensor& wire) {
  const auto values = wire.values<std::uint8_t>();
  return {values.begin(), values.end()};
}

/// Vectors of the given lengths, with different values.
std::vector<Values> vectors(const std::vector<std::size_t>& lengths) {
  std::vector<Values> all;
  for (const std::size_t n : lengths) {
    Values x = normals(n + all.size(), 0.02f, 0.003f);
    x.resize(n);
    all.push_back(x);
  }
  return all;
}

class FusedCodecs : public ::testing::TestWithParam<CodecSpec> {
 protected:
  /// The same tensors on the host and on the GPU.
  struct Twins {
    std::vector<Tensor> host, gpu;
  };
  Twins twins(const std::vector<Values>& values, std::size_t offset = 0) {
    Twins both;
    for (const Values& x : values) {
      both.host.push_back(to_tensor(host_, x));
      both.gpu.push_back(gpu_.tensor(x, offset));
    }
    return both;
  }
  Twins wires_of(const Twins& xs) {
    Twins wires;
    for (const Tensor& x : xs.host) {
      wires.host.push_back(host_codec_->empty_wire(host_, x));
      host_.fill(wires.host.back(), 0xAB);
      wires.gpu.push_back(gpu_.tensor(bytes_of(wires.host.back())));
    }
    return wires;
  }
  void expect_equal_wires(const Twins& wires) {
    for (std::size_t i = 0; i < wires.host.size(); ++i) expect_equal_wire(wires, i);
  }
  void expect_equal_wire(const Twins& wires, std::size_t i) {
    ASSERT_TRUE(same_bytes(gpu_.values<std::uint8_t>(wires.gpu[i]), bytes_of(wires.host[i])))
        << "vector " << i;
  }
  /// Compares the decoded values instead of the wires. Wires with NaNs may differ, because a sum
  /// with a NaN gives another NaN on a GPU than on the host.
  void expect_equal_decoded(const Twins& wires, const Twins& xs, std::size_t i) {
    const Tensor gpu_wire = host_.empty_like(wires.host[i]);
    host_.upload(gpu_wire, gpu_.values<std::uint8_t>(wires.gpu[i]));
    const Tensor a = host_.empty_like(xs.host[i]), b = host_.empty_like(xs.host[i]);
    host_codec_->decode(a, wires.host[i]);
    host_codec_->decode(b, gpu_wire);
    ASSERT_TRUE(same_values(to_values(a), to_values(b))) << "vector " << i;
  }
  void expect_equal_values(const Twins& xs) {
    for (std::size_t i = 0; i < xs.host.size(); ++i)
      ASSERT_TRUE(same_values(gpu_.values<float>(xs.gpu[i]), to_values(xs.host[i])))
          << "vector " << i;
  }

  HostDevice host_;
  Gpu gpu_;
  std::unique_ptr<Codec> host_codec_ = host_.codec(GetParam(), kKey);
  std::unique_ptr<Codec> gpu_codec_ = gpu_.device().codec(GetParam(), kKey);
};

TEST_P(FusedCodecs, ManyVectorsAtOnce) {
  std::vector<std::size_t> lengths = {0, 1, 33, 2048, 2049, 40961};
  for (std::size_t i = 0; i < 70; ++i)
    lengths.push_back(i);  // more vectors than the table in a kernel's parameters can hold
  const Twins xs = twins(vectors(lengths)), wires = wires_of(xs);
  host_codec_->encode_each(wires.host, xs.host);
  gpu_codec_->encode_each(wires.gpu, xs.gpu);
  expect_equal_wires(wires);
  host_codec_->decode_each(xs.host, wires.host);
  gpu_codec_->decode_each(xs.gpu, wires.gpu);
  expect_equal_values(xs);
}

TEST_P(FusedCodecs, ErrorFeedback) {
  std::vector<Values> values = vectors({0, 1, 33, 1000, 2049, 40001});
  values.push_back(Values(100, 2e29f));
  values.push_back({1, std::nanf(""), 2});
  for (const std::size_t offset : {0, 3}) {
    const Twins xs = twins(values, offset);
    std::vector<Values> lost;
    for (const Values& x : values) lost.push_back(normals(x.size(), 0.01f));
    const Twins residuals = twins(lost, 2 * offset % 4), wires = wires_of(xs);
    host_codec_->encode_each_with_feedback(host_, wires.host, xs.host, residuals.host);
    gpu_codec_->encode_each_with_feedback(gpu_.device(), wires.gpu, xs.gpu, residuals.gpu);
    const std::size_t with_nan = values.size() - 1;
    for (std::size_t i = 0; i < with_nan; ++i) expect_equal_wire(wires, i);
    expect_equal_decoded(wires, xs, with_nan);
    expect_equal_values(residuals);
    expect_equal_values(xs);  // unchanged
  }
}

TEST_P(FusedCodecs, MeansOfWires) {
  for (const std::size_t P : {1, 2, 3, 17}) {
    for (const std::size_t n : {0, 1, 33, 2047, 40001}) {
      const bool feedback = n != 33;
      SCOPED_TRACE(std::to_string(P) + " wires of " + std::to_string(n));
      const Twins xs = twins(vectors(std::vector<std::size_t>(P, n)), 1), wires = wires_of(xs);
      for (std::size_t i = 0; i < P; ++i) host_codec_->encode(wires.host[i], xs.host[i]);
      for (std::size_t i = 0; i < P; ++i)
        gpu_.device().upload(wires.gpu[i], bytes_of(wires.host[i]));

      const Twins mean = twins({Values(n)}, 1), out = wires_of(mean);
      const Twins residual = twins({normals(n, 0.01f)});
      const auto use = kKey.use + 1;  // new codecs, so that both draw the same random numbers
      const auto host_codec = host_.codec(GetParam(), {7, 3, use});
      const auto gpu_codec = gpu_.device().codec(GetParam(), {7, 3, use});
      host_codec->decode_mean(host_, mean.host[0], wires.host);
      gpu_codec->decode_mean(gpu_.device(), mean.gpu[0], wires.gpu);
      expect_equal_values(mean);
      host_codec->encode_mean(host_, out.host[0], wires.host, mean.host[0],
                              feedback ? &residual.host[0] : nullptr);
      gpu_codec->encode_mean(gpu_.device(), out.gpu[0], wires.gpu, mean.gpu[0],
                             feedback ? &residual.gpu[0] : nullptr);
      expect_equal_wires(out);
      expect_equal_values(residual);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, FusedCodecs,
                         ::testing::Values(CodecSpec{"minmax_uint8"}, CodecSpec{"bf16"},
                                           CodecSpec{"sign"}, CodecSpec{"qsgd"}, CodecSpec{"topk"}),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Means, FusedCodecs,
                         ::testing::Values(CodecSpec{"sign", {{"scale", "means"}}},
                                           CodecSpec{"dct_topk", {{"mean", "senders"}}}),
                         [](const auto& tested) { return tested.param.name; });

/// The three encoding kernels of MinMaxUInt8. They are also tested on vectors for which a plan
/// would choose another kernel.
class EncodingKernels : public ::testing::TestWithParam<bool> {
 protected:
  using Chunk = cuda::minmax_uint8::Chunk;
  using Batch = cuda::minmax_uint8::Batch;

  bool feedback() const { return GetParam(); }

  /// Encodes with `encode(batch)` and compares the result with the host codec's.
  template <class Encode>
  void expect_equal(const std::vector<Values>& values, const Encode& encode) {
    HostDevice host;
    const auto codec = host.codec({"minmax_uint8"});
    std::vector<Chunk> chunks;
    std::vector<Tensor> xs, residuals, wires;
    for (const Values& x : values) {
      xs.push_back(gpu_.tensor(x));
      residuals.push_back(gpu_.tensor(normals(x.size(), 0.01f)));
      wires.push_back(gpu_.tensor(Bytes(codec->wire_bytes(x.size()), 0xAB)));
      chunks.push_back({cuda::floats(xs.back()),
                        feedback() ? cuda::floats(residuals.back()) : nullptr, wires.back().data(),
                        x.size(), 0, 0});
    }
    Batch batch = {};
    batch.count = static_cast<std::uint32_t>(chunks.size());
    batch.tiles = cuda::assign_first_tiles(chunks, cuda::minmax_uint8::kTile);
    const Tensor table = cuda::set_table(batch.chunks, chunks, gpu_.device());
    encode(batch);
    for (std::size_t i = 0; i < values.size(); ++i) {
      SCOPED_TRACE("vector " + std::to_string(i) + " of " + std::to_string(values[i].size()));
      const Tensor x = to_tensor(host, values[i]), wire = codec->empty_wire(host, x);
      const Tensor residual = to_tensor(host, normals(values[i].size(), 0.01f));
      if (feedback()) codec->encode_each_with_feedback(host, {&wire, 1}, {&x, 1}, {&residual, 1});
      else codec->encode(wire, x);
      ASSERT_TRUE(same_bytes(gpu_.values<std::uint8_t>(wires[i]), bytes_of(wire)));
      ASSERT_TRUE(same_values(gpu_.values<float>(residuals[i]), to_values(residual)));
    }
  }

  Gpu gpu_;
};

TEST_P(EncodingKernels, Warps) {
  expect_equal(vectors({0, 1, 31, 33, 1000, 2047, 2048}), [&](const Batch& batch) {
    cuda::minmax_uint8::encode_in_warps(gpu_.stream(), batch, feedback());
  });
}

TEST_P(EncodingKernels, ClustersOfEverySize) {
  for (const unsigned blocks : {1, 2, 4, 8}) {
    if (cuda::minmax_uint8::resident_clusters(blocks) == 0) continue;  // not supported by this GPU
    for (const unsigned clusters : {1, 2}) {
      SCOPED_TRACE(std::to_string(clusters) + " clusters of " + std::to_string(blocks));
      const std::size_t most = blocks * cuda::minmax_uint8::kBlockCapacity;
      expect_equal(vectors({0, 1, 100, 2049, 20001, most}), [&](const Batch& batch) {
        cuda::minmax_uint8::encode_in_clusters(gpu_.stream(), batch, blocks, clusters, false,
                                               feedback());
      });
    }
  }
}

TEST_P(EncodingKernels, TilesWithAnyNumberOfBlocksAndAnyLead) {
  for (const unsigned blocks : {1, 3}) {
    for (const std::uint32_t extra_lead : {0, 2}) {
      SCOPED_TRACE(std::to_string(blocks) + " blocks, lead of 6 tiles and " +
                   std::to_string(extra_lead));
      expect_equal(vectors({0, 1, 8191, 8192, 8193, 45000, 100, 45000}), [&](const Batch& batch) {
        const Tensor state =
            gpu_.tensor(Bytes(cuda::minmax_uint8::tile_state_bytes(batch.count), 0));
        cuda::minmax_uint8::encode_in_tiles(gpu_.stream(), batch, state.data(), 6 + extra_lead,
                                            blocks, false, feedback());
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Feedback, EncodingKernels, ::testing::Bool());

// The codec uses the kernel for tiles if no cluster can hold a vector.
TEST(MinMaxUInt8OnGpus, EncodesAVectorTooLargeForAnyCluster) {
  constexpr std::size_t kLarge =
      cuda::minmax_uint8::kMaxCluster * cuda::minmax_uint8::kBlockCapacity + 1;
  HostDevice host;
  Gpu gpu;
  const Values values = normals(kLarge, 0.02f, 0.003f);
  const auto codec = host.codec({"minmax_uint8"});
  const Tensor x = to_tensor(host, values), wire = codec->empty_wire(host, x);
  codec->encode(wire, x);
  const auto gpu_codec = gpu.device().codec({"minmax_uint8"});
  const Tensor gpu_x = gpu.tensor(values), gpu_wire = gpu_codec->empty_wire(gpu.device(), gpu_x);
  gpu_codec->encode(gpu_wire, gpu_x);
  ASSERT_TRUE(same_bytes(gpu.values<std::uint8_t>(gpu_wire), bytes_of(wire)));
  codec->decode(x, wire);
  gpu_codec->decode(gpu_x, gpu_wire);
  ASSERT_TRUE(same_values(gpu.values<float>(gpu_x), to_values(x)));

  // The mean of encoded vectors of this length, as the owner of a chunk encodes it.
  const std::vector<Tensor> wires(3, wire), gpu_wires(3, gpu_wire);
  codec->encode_mean(host, wire, wires, x, nullptr);
  const Tensor out = gpu_codec->empty_wire(gpu.device(), gpu_x);
  gpu_codec->encode_mean(gpu.device(), out, gpu_wires, gpu_x, nullptr);
  ASSERT_TRUE(same_bytes(gpu.values<std::uint8_t>(out), bytes_of(wire)));
}

}  // namespace
}  // namespace trigram::test::fused_codecs_test
