#include <cstring>

#include "core/codecs/registry.h"
#include "core/device/host_device.h"
#include "core/random/philox.h"
#include "experiments/bench/benchmark_case.h"

namespace trigram {
namespace {

/// The expected result comes from the host's codec with the same key, on the same vector.
class CodecExercise : public BenchmarkCase {
 public:
  CodecExercise(const CodecSpec& spec, const Context& ctx, std::size_t n)
      : spec_(spec),
        device_(*ctx.device),
        random_(1, ctx.world_rank, 0, Purpose::gradient_noise),
        x_(device_.empty(n)),
        codec_(device_.codec(spec, key())),
        wire_(codec_->empty_wire(device_, x_)) {}
  void fill() override {
    codec_ = device_.codec(spec_, key());
    device_.fill_normal(x_, random_);
  }
  double bus_factor() const override {
    if (x_.numel() == 0) return 1;
    return 1 + static_cast<double>(wire_.priced_nbytes()) / static_cast<double>(x_.nbytes());
  }

 protected:
  static CodecKey key() { return {.seed = 1}; }
  /// Sets `wire` to the host's code of the same vector, and `x` to its decoded value.
  void make_expectation(Tensor& x, Tensor& wire) const {
    const auto codec = host_.codec(spec_, key());
    x = host_.empty(x_.numel());
    host_.fill_normal(x, random_);
    wire = codec->empty_wire(host_, x);
    codec->encode(wire, x);
    codec->decode(x, wire);
  }

  const CodecSpec spec_;
  Device& device_;
  mutable HostDevice host_;
  const Philox random_;
  Tensor x_;
  std::unique_ptr<Codec> codec_;
  Tensor wire_;
};

/// Counts the elements that differ. `expected` is in host memory.
template <class T>
std::size_t differing(Device& device, const Tensor& result, const Tensor& expected) {
  const auto x = device.download<T>(result);
  const auto y = expected.values<T>();
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += std::memcmp(&x[i], &y[i], sizeof(T)) != 0;
  return count;
}

class Encode final : public CodecExercise {
 public:
  using CodecExercise::CodecExercise;
  void run() override { codec_->encode(wire_, x_); }
  std::size_t wrong() const override {
    Tensor x, wire;
    make_expectation(x, wire);
    return differing<std::uint8_t>(device_, wire_, wire);
  }
};

class Decode final : public CodecExercise {
 public:
  using CodecExercise::CodecExercise;
  void fill() override {
    CodecExercise::fill();
    codec_->encode(wire_, x_);
  }
  void run() override { codec_->decode(x_, wire_); }
  std::size_t wrong() const override {
    Tensor x, wire;
    make_expectation(x, wire);
    return differing<float>(device_, x_, x);
  }
};

template <class Operation>
BenchEntry case_of_codec(const char* operation, const std::string& codec) {
  BenchEntry e{operation, codec, "none"};
  e.make = [spec = CodecSpec{codec}](const Context& ctx, std::size_t n) {
    return std::make_unique<Operation>(spec, ctx, n);
  };
  return e;
}

}  // namespace

const std::vector<BenchEntry>& codec_benches() {
  static const std::vector<BenchEntry> entries = [] {
    std::vector<BenchEntry> all;
    for (const CodecEntry& codec : codecs())
      all.push_back(case_of_codec<Encode>("encode", codec.name));
    for (const CodecEntry& codec : codecs())
      all.push_back(case_of_codec<Decode>("decode", codec.name));
    return all;
  }();
  return entries;
}

}  // namespace trigram
