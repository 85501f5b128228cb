#include "core/codecs/options.h"

#include "core/check.h"
#include "core/codec.h"
#include "core/random/philox.h"
#include "cuda/codecs/registry.h"
#include "cuda/kernels/codecs/low_rank.h"
#include "cuda/kernels/codecs/sparse.h"

namespace trigram::cuda {
namespace {

class PowerSgd final : public CudaCodec {
 public:
  PowerSgd(const powersgd::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host),
        rank_(static_cast<std::size_t>(options.rank)),
        random_(parts.key.seed, parts.key.rank, parts.key.use, Purpose::codec) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel();
    if (n == 0) return;
    const float* m = floats(x);
    if (!powersgd::has_factors(rank_, n))
      return low_rank::write(stream(), m, n, nullptr, wire.data());
    const MatrixShape shape = nearly_square(n);
    const std::size_t count = powersgd::factor_elements(rank_, n);
    const Tensor factors = scratch(count * sizeof(float));
    float* const p = floats(factors);
    float* const q = p + rank_ * shape.rows;
    const auto normals = static_cast<std::uint32_t>(rank_ * shape.cols);
    TRIGRAM_CHECK(next_block_ + normals > next_block_, "more than 2^34 draws from one key");
    low_rank::fill_normal(stream(), q, normals, random_, next_block_);
    next_block_ += normals;
    low_rank::multiply(stream(), m, n, shape, rank_, q, p);
    low_rank::orthonormalise(stream(), p, shape.rows, rank_);
    low_rank::multiply_transposed(stream(), m, n, shape, rank_, p, q);
    const Tensor flag = zeroed_scratch(sizeof(std::uint32_t));
    auto* not_finite = reinterpret_cast<std::uint32_t*>(flag.data());
    flag_not_finite(stream(), m, n, not_finite);
    flag_not_finite(stream(), p, count, not_finite);
    low_rank::write(stream(), p, count, not_finite, wire.data());
  }

  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel();
    if (n == 0) return;
    if (powersgd::has_factors(rank_, n))
      return low_rank::reconstruct(stream(), wire.data(), nearly_square(n), rank_, floats(x), n);
    low_rank::read(stream(), wire.data(), n, floats(x));
    const Tensor flag = zeroed_scratch(sizeof(std::uint32_t));
    auto* not_finite = reinterpret_cast<std::uint32_t*>(flag.data());
    flag_not_finite(stream(), floats(x), n, not_finite);
    low_rank::fill_with_nan(stream(), floats(x), n, not_finite);
  }

 private:
  std::size_t rank_;
  Philox random_;
  std::uint32_t next_block_ = 0;  // first random block of the next vector
};

}  // namespace

std::unique_ptr<Codec> make_powersgd(const CodecParts& parts) {
  return std::make_unique<PowerSgd>(powersgd::option_fields().parse(parts.options, ""), parts);
}

}  // namespace trigram::cuda
