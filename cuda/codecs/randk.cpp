#include "core/check.h"
#include "core/codec.h"
#include "core/codecs/options.h"
#include "core/random/philox.h"
#include "cuda/codecs/registry.h"
#include "cuda/kernels/codecs/sparse.h"

namespace trigram::cuda {
namespace {

class RandK final : public CudaCodec {
 public:
  RandK(const trigram::randk::Options& options, const CodecParts& parts)
      : CudaCodec(parts.context, parts.host),
        options_(options),
        seeds_(parts.key.seed, parts.key.rank, parts.key.use, Purpose::codec) {}

  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    const std::uint64_t low = seeds_.bits(), seed = std::uint64_t{seeds_.bits()} << 32 | low;
    const float scale = options_.unbiased && k > 0 ? trigram::randk::scale(n, k) : 1;
    const Tensor flag = zeroed_scratch(sizeof(std::uint32_t));
    auto* not_finite = reinterpret_cast<std::uint32_t*>(flag.data());
    flag_not_finite(stream(), floats(x), n, not_finite);
    randk::encode(stream(), floats(x), seed, permutation(seed, n), scale,
                  static_cast<std::uint32_t>(k), not_finite, wire.data());
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    const std::size_t n = x.numel(), k = kept_count(options_.density, n);
    if (n == 0) return;
    randk::decode(stream(), wire.data(), permutation(0, n), static_cast<std::uint32_t>(k),
                  floats(x), n);
  }

 private:
  static RandomPermutation permutation(std::uint64_t seed, std::size_t n) {
    TRIGRAM_CHECK(n <= std::numeric_limits<std::uint32_t>::max(), "{} elements", n);
    return {seed, static_cast<std::uint32_t>(n)};
  }

  trigram::randk::Options options_;
  Philox seeds_;
};

}  // namespace

std::unique_ptr<Codec> make_randk(const CodecParts& parts) {
  return std::make_unique<RandK>(trigram::randk::option_fields().parse(parts.options, ""), parts);
}

}  // namespace trigram::cuda
