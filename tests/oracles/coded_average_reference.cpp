#include "tests/oracles/coded_average_reference.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/device/host_device.h"
#include "tests/oracles/codec_references.h"

namespace trigram::test {
namespace {

using Vector = std::vector<float>;

Vector minmax_coded(const Vector& x) {
  return minmax_uint8_decode(minmax_uint8_encode(x), x.size());
}

Coder sign_coder(const std::string& scale) {
  return [scale](const Vector& x) {
    SignLevels levels{1, -1};
    if (scale == "means") levels = sign_means(x);
    else if (scale != "one") {
      levels.plus = sign_scale(x, scale == "l1_mean");
      levels.minus = -levels.plus;
    }
    Vector decoded;
    for (const float v : x)
      decoded.push_back(static_cast<float>(v < 0 ? levels.minus : levels.plus));
    return decoded;
  };
}

Coder topk_coder(double density) {
  return [density](const Vector& x) {
    const auto k = static_cast<std::size_t>(std::ceil(density * static_cast<double>(x.size())));
    Vector decoded(x.size(), 0);
    for (const std::uint32_t i : topk_indices(x, k)) decoded[i] = x[i];
    return decoded;
  };
}

Coder codec_coder(const CodecSpec& spec, const CodecKey& key) {
  const auto device = std::make_shared<HostDevice>();
  const std::shared_ptr<Codec> codec = device->codec(spec, key);
  return [device, codec](const Vector& x) {
    const Tensor values = device->empty(x.size());
    std::copy(x.begin(), x.end(), values.floats().begin());
    const Tensor wire = codec->empty_wire(*device, values);
    codec->encode(wire, values);
    codec->decode(values, wire);
    return Vector(values.floats().begin(), values.floats().end());
  };
}

void add(const Vector& x, Vector& sum) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i];
}

Vector scaled_mean(Vector sum, std::size_t by) {
  for (float& v : sum) v *= 1.0f / static_cast<float>(by);
  return sum;
}

}  // namespace

Coder plain_coder(const CodecSpec& codec, const CodecKey& key) {
  if (codec.name == "minmax_uint8") return minmax_coded;
  if (codec.name == "sign") return sign_coder(codec.options.value("scale", "l2"));
  if (codec.name == "topk") return topk_coder(codec.options.at("density"));
  return codec_coder(codec, key);
}

CodedAverageReference::CodedAverageReference(CodecSpec codec, bool feedback, std::uint64_t seed,
                                             std::vector<int> ranks)
    : codec_(std::move(codec)), feedback_(feedback), seed_(seed), ranks_(std::move(ranks)) {}

Vector CodedAverageReference::gathered(const std::vector<Vector>& inputs, int bucket, long step) {
  Vector sum(inputs.at(0).size(), 0);
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    add(coded(coder(r, bucket, step), inputs.at(r), residual(worker_, r, bucket, 0)), sum);
  return scaled_mean(std::move(sum), ranks_.size());
}

Vector CodedAverageReference::scattered(const std::vector<Vector>& inputs, int bucket, long step) {
  const std::size_t P = ranks_.size(), n = inputs.at(0).size();
  const auto begin = [&](std::size_t part) { return n * part / P; };
  std::vector<Coder> coders;
  std::vector<Vector> sums;
  for (std::size_t part = 0; part < P; ++part) sums.emplace_back(begin(part + 1) - begin(part), 0);
  for (std::size_t r = 0; r < P; ++r) {
    coders.push_back(coder(r, bucket, step));
    for (std::size_t part = 0; part < P; ++part) {
      const float* const x = inputs.at(r).data();
      add(coded(coders[r], {x + begin(part), x + begin(part + 1)},
                residual(worker_, r, bucket, part)),
          sums[part]);
    }
  }
  Vector result;
  for (std::size_t part = 0; part < P; ++part) {
    const Vector merged =
        coded(coders[part], scaled_mean(sums[part], P), residual(owner_, part, bucket, part));
    result.insert(result.end(), merged.begin(), merged.end());
  }
  return result;
}

Coder CodedAverageReference::coder(std::size_t index, int bucket, long step) const {
  return plain_coder(codec_, {seed_, ranks_[index], step * 65536 + bucket});
}

Vector CodedAverageReference::coded(const Coder& code, Vector x, Vector& residual) const {
  if (!feedback_) return code(x);
  residual.resize(x.size(), 0);
  add(residual, x);
  const Vector decoded = code(x);
  for (std::size_t i = 0; i < x.size(); ++i) residual[i] = x[i] - decoded[i];
  return decoded;
}

Vector& CodedAverageReference::residual(Residuals& residuals, std::size_t index, int bucket,
                                        std::size_t part) {
  std::vector<Vector>& parts = residuals[{index, bucket}];
  parts.resize(ranks_.size());
  return parts[part];
}

}  // namespace trigram::test
