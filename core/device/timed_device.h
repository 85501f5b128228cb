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
  using Device::update;
  void update(const UpdateRule& rule, const Tensor& w, const Tensor& g,
              std::span<const Tensor> states) override {
    inner_.update(rule, w, g, states);
    // Reads w, g and the states; writes w and the states.
    std::visit(
        [&]<class Rule>(const Rule&) {
          charge(w, 3 + 2 * static_cast<double>(Rule::kStates.size()), Rule::kFlops);
        },
        rule);
  }
  void update_each(const TensorRule& rule, const Tensor& w, const Tensor& g,
                   std::span<const Tensor> states, std::span<const TensorPlace> tensors) override {
    inner_.update_each(rule, w, g, states, tensors);
    std::visit(
        [&]<class Rule>(const Rule&) {
          charge(w, Rule::kPasses, Rule::kFlops, Cost::Kind::other, /*launches=*/3);
        },
        rule);
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
  void charge(const Tensor& x, double passes, double flops, Cost::Kind kind = Cost::Kind::other,
              int launches = 1) {
    const Cost cost{passes * static_cast<double>(x.priced_nbytes()),
                    flops * static_cast<double>(x.priced_numel()), kind, launches};
    if (!cost.is_noop()) costs_.charge(cost);
  }

  Device& inner_;
  CostSink& costs_;
  std::unique_ptr<NnOps> nn_;
};

}  // namespace trigram
