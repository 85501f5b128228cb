#include "core/device/timed_device.h"

#include <vector>

#include "core/check.h"
#include "core/device/null_device.h"

namespace trigram {
namespace {

// Charges the costs of a codec's operations without running them.
class CodecCharges final : public Codec {
 public:
  CodecCharges(const Codec& priced, CostSink& costs)
      : priced_(priced), costs_(costs), launches_(priced.launches()) {}
  std::size_t wire_bytes(std::size_t numel) const override { return priced_.wire_bytes(numel); }
  std::size_t priced_bytes(std::size_t numel) const override { return priced_.priced_bytes(numel); }
  CodecLaunches launches() const override { return launches_; }
  void encode(const Tensor& wire, const Tensor& x) override { encode_each({&wire, 1}, {&x, 1}); }
  void decode(const Tensor& x, const Tensor& wire) override { decode_each({&x, 1}, {&wire, 1}); }
  void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) override {
    charge_all(wires, xs, launches_.encode_call, launches_.encode_vector);
  }
  void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) override {
    charge_all(wires, xs, launches_.decode_call, launches_.decode_vector);
  }
  // In two charges, not in one for each code: with thousands of ranks, one exchange has millions.
  void decode_mean(Device& device, const Tensor& x, std::span<const Tensor> wires) override {
    const std::size_t n = wires.size();
    TRIGRAM_CHECK(n > 0, "decode_mean needs at least one wire");
    if (n == 1) return Codec::decode_mean(device, x, wires);
    const double numel = static_cast<double>(x.priced_numel());
    const double nbytes = static_cast<double>(x.priced_nbytes()), codes = static_cast<double>(n);
    if (launches_.fused_mean) {
      charge_decoding(x, wires, launches_.decode_call);
      return charge({(codes + 1) * nbytes, codes * numel, Cost::Kind::reduction});
    }
    charge_decoding(x, wires, static_cast<int>(n) * launches_.decode_call);
    // n - 1 sums, each of which reads two vectors and writes one, and a product with 1 / n.
    charge({(3 * codes - 1) * nbytes, (3 * codes - 2) * numel, Cost::Kind::reduction,
            static_cast<int>(n)});
  }

 private:
  // Codecs are memory-bound: their arithmetic is hidden behind their memory traffic.
  void charge_all(std::span<const Tensor> wires, std::span<const Tensor> xs, int per_call,
                  int per_vector) {
    Cost all{.kind = Cost::Kind::codec, .launches = per_call};
    for (std::size_t i = 0; i < xs.size(); ++i) {
      if (xs[i].priced_numel() == 0) continue;
      all.bytes += static_cast<double>(xs[i].priced_nbytes() + wires[i].priced_nbytes());
      all.launches += per_vector;
    }
    charge(all);
  }
  /// All wires are decoded into vectors as long as x.
  void charge_decoding(const Tensor& x, std::span<const Tensor> wires, int call_launches) {
    if (x.priced_numel() == 0) return;
    Cost all{.kind = Cost::Kind::codec, .launches = call_launches};
    for (const Tensor& wire : wires)
      all.bytes += static_cast<double>(x.priced_nbytes() + wire.priced_nbytes());
    all.launches += static_cast<int>(wires.size()) * launches_.decode_vector;
    charge(all);
  }
  void charge(const Cost& cost) {
    if (!cost.is_noop()) costs_.charge(cost);
  }

  const Codec& priced_;
  CostSink& costs_;
  CodecLaunches launches_;
};

// The charge follows CodecLaunches even if the inner codec needs fewer passes or launches, so that
// the cost model does not depend on a device's implementation.
class TimedCodec final : public Codec {
 public:
  TimedCodec(std::unique_ptr<Codec> inner, Device& device, CostSink& costs)
      : inner_(std::move(inner)), device_(device), costs_(costs), charges_(*inner_, costs) {}
  CodecLaunches launches() const override { return inner_->launches(); }
  std::size_t wire_bytes(std::size_t numel) const override { return inner_->wire_bytes(numel); }
  std::size_t priced_bytes(std::size_t numel) const override { return inner_->priced_bytes(numel); }
  void encode(const Tensor& wire, const Tensor& x) override {
    inner_->encode(wire, x);
    charges_.encode(wire, x);
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    inner_->decode(x, wire);
    charges_.decode(x, wire);
  }
  void encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) override {
    inner_->encode_each(wires, xs);
    charges_.encode_each(wires, xs);
  }
  void decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) override {
    inner_->decode_each(xs, wires);
    charges_.decode_each(xs, wires);
  }
  void encode_each_with_feedback(Device&, std::span<const Tensor> wires, std::span<const Tensor> xs,
                                 std::span<const Tensor> residuals) override {
    inner_->encode_each_with_feedback(device_, wires, xs, residuals);
    charges_.encode_each_with_feedback(charging_device_, wires, xs, residuals);
  }
  void decode_mean(Device&, const Tensor& x, std::span<const Tensor> wires) override {
    inner_->decode_mean(device_, x, wires);
    charges_.decode_mean(charging_device_, x, wires);
  }
  void encode_mean(Device&, const Tensor& wire, std::span<const Tensor> wires, const Tensor& mean,
                   const Tensor* residual) override {
    inner_->encode_mean(device_, wire, wires, mean, residual);
    charges_.encode_mean(charging_device_, wire, wires, mean, residual);
  }

 private:
  std::unique_ptr<Codec> inner_;
  Device& device_;
  CostSink& costs_;
  CodecCharges charges_;
  NullDevice null_device_;
  TimedDevice charging_device_{null_device_, costs_};  // charges operations without running them
};

}  // namespace

std::unique_ptr<Codec> TimedDevice::codec(const CodecSpec& spec, const CodecKey& key) {
  return std::make_unique<TimedCodec>(inner_.codec(spec, key), inner_, costs_);
}

}  // namespace trigram
