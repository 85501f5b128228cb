#include "algorithms/execution/low_rank_average.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "algorithms/primitives/primitives.h"
#include "core/math/low_rank.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// The shapes of the matrices for a tensor's real and its priced length.
struct Matrix {
  MatrixShape real, priced;
  explicit Matrix(const Tensor& x)
      : real(nearly_square(x.numel())), priced(nearly_square(x.priced_numel())) {}

  Tensor empty(Device& device) const {
    return device.empty(real.rows * real.cols, DType::f32, priced.rows * priced.cols);
  }
  /// `rank` vectors as long as the matrix's columns (or its rows), one after another.
  Tensor columns(Device& device, std::size_t rank) const {
    return device.empty(rank * real.rows, DType::f32, rank * priced.rows);
  }
  Tensor rows(Device& device, std::size_t rank) const {
    return device.empty(rank * real.cols, DType::f32, rank * priced.cols);
  }
};

/// The state of a tensor between steps.
struct KeptFactors {
  Tensor m;  // holds e, then M, then e again; zeros after the tensor's own elements
  Tensor q;
};

/// The state of a run, by bucket. Only one stream may use it.
class LowRankAverage {
 public:
  LowRankAverage(const LowRank& options, std::uint64_t seed, TrainingState state)
      : options_(options), seed_(seed), state_(std::move(state)) {}

  void operator()(Context c, const Tensor& x, Slot slot) {
    Device& device = *c.device;
    const auto rank = static_cast<std::size_t>(options_.rank);
    const Matrix matrix(x);
    if (!is_shorter(x, rank)) return c_fp_s(c, x, options_.allreduce);

    const auto [m, q] = factors(device, matrix, slot);
    if (!options_.warm_start) draw(device, q, slot);
    const Tensor own = own_elements(m, x);
    if (!options_.error_feedback) device.fill(own, 0);
    device.axpby(1, x, 1, own);

    const auto [rows, cols] = matrix.real;
    const Tensor p = matrix.columns(device, rank), approximation = matrix.empty(device);
    device.nn().gemm({.m = rank, .n = rows, .k = cols, .transpose_b = true}, q, m, 0, p);
    average(c, p, slot, 0);
    // Otherwise a zero column of Q would stay zero, and a direction that is absent from the first
    // gradient would never be found.
    device.nn().orthonormalise(rank, rows, p, Dependent::is_replaced);
    device.nn().gemm({.m = rank, .n = cols, .k = rows}, p, m, 0, q);
    average(c, q, slot, 1);
    device.nn().gemm({.m = rows, .n = cols, .k = rank, .transpose_a = true}, p, q, 0,
                     approximation);
    device.copy(x, own_elements(approximation, x));
    device.axpby(-1, x, 1, own);
  }

 private:
  void average(Context c, const Tensor& factor, Slot slot, int number) const {
    if (!options_.codec) return c_fp_s(c, factor, options_.allreduce);
    const auto codec = c.device->codec(*options_.codec, codec_key(c, seed_, slot, number));
    c_lp_s(c, factor, *codec, SecondPhase::allgather, nullptr);
  }
  KeptFactors factors(Device& device, const Matrix& matrix, Slot slot) const {
    const auto make_m = [&] {
      const Tensor m = matrix.empty(device);
      device.fill(m, 0);
      return m;
    };
    const auto make_q = [&] {
      const Tensor q = matrix.rows(device, static_cast<std::size_t>(options_.rank));
      if (options_.warm_start) draw(device, q, slot);
      return q;
    };
    return {state_.tensor(fmt::format("matrix {}", slot.bucket), make_m),
            state_.tensor(fmt::format("factor {}", slot.bucket), make_q)};
  }
  void draw(Device& device, const Tensor& q, Slot slot) const {
    device.fill_normal(q, Philox(seed_, slot.bucket, slot.step, Purpose::codec));
  }
  /// True if the factors are shorter than x.
  static bool is_shorter(const Tensor& x, std::size_t rank) {
    const std::size_t n = x.priced_numel() > 0 ? x.priced_numel() : x.numel();
    const MatrixShape shape = nearly_square(n);
    return rank * (shape.rows + shape.cols) < n;
  }
  static Tensor own_elements(const Tensor& matrix, const Tensor& x) {
    return matrix.slice(0, x.numel(), x.priced_numel());
  }

  LowRank options_;
  std::uint64_t seed_;
  TrainingState state_;
};

}  // namespace

Exchange low_rank_average(const LowRank& options, std::uint64_t seed, const TrainingState& state) {
  return [average = std::make_shared<LowRankAverage>(options, seed, state)](
             Context c, const Tensor& x, Slot slot) { (*average)(c, x, slot); };
}

}  // namespace trigram
