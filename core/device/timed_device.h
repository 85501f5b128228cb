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
  void fill(const Tensor& x, float value) override {
    inner_.fill(x, value);
    charge(x, 1, 0);
  }
  void fill_normal(const Tensor& x, Philox random) override {
    inner_.fill_normal(x, random);
    charge(x, 1, 100);  // ten rounds of ten operations each
  }
  void copy(const Tensor& dst, const Tensor& src) override {
    inner_.copy(dst, src);
    if (src.priced_numel() == 0) return;
    costs_.charge(
        {static_cast<double>(src.priced_nbytes() + dst.priced_nbytes()), 0, Cost::Kind::copy});
  }
  void axpby(float a, const Tensor& x, float b, const Tensor& y) override {
    inner_.axpby(a, x, b, y);
    const bool reads_y = b != 0;
    charge(y, reads_y ? 3 : 2, reads_y ? 3 : 1, Cost::Kind::reduction);
  }
  void maximum(const Tensor& x, const Tensor& y) override {
    inner_.maximum(x, y);
    charge(y, 3, 1, Cost::Kind::reduction);
  }
  void cut_below(float magnitude, const Tensor& x) override {
    inner_.cut_below(magnitude, x);
    charge(x, 2, 1);
  }
  void sgd(const SgdStep& step, const Tensor& w, const Tensor& g, const Tensor& m) override {
    inner_.sgd(step, w, g, m);
    if (step.momentum == 0) return charge(w, 3, 4);  // reads w, g; writes w
    charge(w, 5, 6);                                 // reads w, g, m; writes w, m
  }
  void adam(const AdamStep& step, const Tensor& w, const Tensor& g, const Tensor& m,
            const Tensor& v) override {
    inner_.adam(step, w, g, m, v);
    charge(w, 7, 18);  // reads w, g, m, v; writes w, m, v
  }
  double norm2(const Tensor& x) override {
    const double norm = inner_.norm2(x);
    charge(x, 1, 2);
    return norm;
  }
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
  /// Charges `passes` reads or writes of x, and `flops` operations per element.
  void charge(const Tensor& x, double passes, double flops, Cost::Kind kind = Cost::Kind::other) {
    const Cost cost{passes * static_cast<double>(x.priced_nbytes()),
                    flops * static_cast<double>(x.priced_numel()), kind};
    if (!cost.is_noop()) costs_.charge(cost);
  }

  Device& inner_;
  CostSink& costs_;
  std::unique_ptr<NnOps> nn_;
};

}  // namespace trigram
