#pragma once

#include "core/device.h"
#include "core/nn/timed_nn_ops.h"
#include "core/random/philox.h"

namespace trigram {

/// A device that runs each operation on `inner` and then charges its cost to `costs`: memory
/// traffic in priced bytes, and arithmetic. An operation on tensors without priced elements costs
/// nothing. `costs` is usually a stream; in real time a stream ignores charges, because the
/// operation itself takes time. Both must outlive the TimedDevice.
class TimedDevice final : public Device {
 public:
  TimedDevice(Device& inner, CostSink& costs)
      : inner_(inner), costs_(costs), nn_(timed_nn_ops(inner.nn(), costs)) {}

  std::string_view name() const override { return inner_.name(); }
  using Device::codec;
  using Device::empty;
  Tensor empty(std::size_t numel, DType dtype, std::size_t priced_numel) override {
    return inner_.empty(numel, dtype, priced_numel);
  }
  void fill(const Tensor& x, float value) override;
  void fill_normal(const Tensor& x, Philox random) override;
  void copy(const Tensor& dst, const Tensor& src) override;
  void axpby(float a, const Tensor& x, float b, const Tensor& y) override;
  void maximum(const Tensor& x, const Tensor& y) override;
  void cut_below(float magnitude, const Tensor& x) override;
  void sgd(const SgdStep& step, const Tensor& w, const Tensor& g, const Tensor& m) override;
  void adam(const AdamStep& step, const Tensor& w, const Tensor& g, const Tensor& m,
            const Tensor& v) override;
  double norm2(const Tensor& x) override;
  using Device::download;
  using Device::upload;
  /// Transfers between host and device cost nothing: input is prefetched, and results are read
  /// outside training.
  void upload(const Tensor& dst, std::span<const std::byte> values) override {
    inner_.upload(dst, values);
  }
  void download(std::span<std::byte> values, const Tensor& src) override {
    inner_.download(values, src);
  }
  std::unique_ptr<Codec> codec(const CodecSpec& spec, const CodecKey& key) override;
  NnOps& nn() override { return *nn_; }

 private:
  Device& inner_;
  CostSink& costs_;
  std::unique_ptr<NnOps> nn_;
};

}  // namespace trigram
