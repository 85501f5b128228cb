#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "core/codec.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"
#include "core/math/low_rank.h"
#include "core/random/philox.h"

namespace trigram {

FieldTable<powersgd::Options> powersgd::option_fields() {
  return FieldTable<Options>{}.field("rank", &Options::rank, integer(1, 1024),
                                     "Rank of the approximation; the paper uses 1 to 4");
}

namespace {

using powersgd::Options;

// One power iteration towards the best low-rank approximation (PowerSGD, arXiv 1905.13727). The
// chunk, the input of one call, is viewed as the most nearly square matrix M:
//
//   Q random normal;  P = orthonormalise(M Q);  Q = M^T P;  M^ = P Q^T
//
// M^ is M projected on the columns of P, so ||M - M^|| <= ||M||, and M^ = M if the rank of M is at
// most the codec's. The code is biased and meant for error feedback. Q is drawn anew for every
// vector rather than kept from the last one, because a codec remembers no values.
//
// A chunk with a NaN, an infinity, or products beyond f32 decodes to NaN everywhere, so that a
// diverged run stays visible.
//
// Wire: the columns of P, then the columns of Q, as f32: 4 rank (rows + cols) bytes; or the chunk
// itself, 4n bytes, if that is not longer.
class PowerSgd final : public Codec {
 public:
  PowerSgd(const Options& options, const CodecKey& key)
      : rank_(static_cast<std::size_t>(options.rank)),
        random_(key.seed, key.rank, key.use, Purpose::codec) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return std::min(numel, factor_elements(numel)) * sizeof(float);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel();
    const float* m = x.floats().data();
    if (n == 0) return;
    if (!has_factors(n)) {
      std::memcpy(wire.data(), m, n * sizeof(float));
      return;
    }
    const MatrixShape shape = nearly_square(n);
    std::vector<float> factors(factor_elements(n));
    float* const p = factors.data();
    float* const q = p + rank_ * shape.rows;
    std::generate_n(q, rank_ * shape.cols, [this] { return random_.normal(); });
    low_rank::multiply(m, n, shape, rank_, q, p);
    low_rank::orthonormalise(p, shape.rows, rank_);
    low_rank::multiply_transposed(m, n, shape, rank_, p, q);
    if (!all_finite(m, n) || !all_finite(p, factors.size())) {
      std::fill(factors.begin(), factors.end(), std::numeric_limits<float>::quiet_NaN());
    }
    std::memcpy(wire.data(), factors.data(), factors.size() * sizeof(float));
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel();
    float* m = x.floats().data();
    if (n == 0) return;
    if (!has_factors(n)) {
      std::memcpy(m, wire.data(), n * sizeof(float));
      if (!all_finite(m, n)) std::fill_n(m, n, std::numeric_limits<float>::quiet_NaN());
      return;
    }
    const MatrixShape shape = nearly_square(n);
    std::vector<float> factors(factor_elements(n));
    std::memcpy(factors.data(), wire.data(), factors.size() * sizeof(float));
    low_rank::reconstruct(m, n, shape, rank_, factors.data(), factors.data() + rank_ * shape.rows);
  }

 private:
  std::size_t factor_elements(std::size_t numel) const {
    return powersgd::factor_elements(rank_, numel);
  }
  bool has_factors(std::size_t numel) const { return powersgd::has_factors(rank_, numel); }
  static bool all_finite(const float* x, std::size_t n) {
    return magnitudes::largest(x, n) < magnitudes::kInfinity;
  }

  std::size_t rank_;
  Philox random_;
};

}  // namespace

CodecEntry powersgd_codec_entry() {
  return codec_entry(
      "powersgd",
      "A chunk as a nearly square matrix, approximated by one of low rank; biased, for use with "
      "error feedback (PowerSGD, arXiv 1905.13727)",
      powersgd::option_fields(), [](const Options& options, const CodecKey& key) {
        return std::make_unique<PowerSgd>(options, key);
      });
}

}  // namespace trigram
