#include "core/codecs/dct_topk_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "core/codec.h"
#include "core/codecs/chunk_selection.h"
#include "core/codecs/kernels.h"
#include "core/codecs/options.h"
#include "core/codecs/registry.h"
#include "core/config/option_type.h"

namespace trigram {

FieldTable<dct_topk::Options> dct_topk::option_fields() {
  return FieldTable<Options>{}
      .field("keep", &Options::keep, integer(1, static_cast<std::int64_t>(kChunk)),
             "Coefficients that are kept of each chunk of 4096 elements; of the last chunk "
             "proportionally many")
      .field("mean", &Options::mean, one_of<Mean>({{"all", Mean::all}, {"senders", Mean::senders}}),
             "Mean of several codes: of all of them, where a coefficient that is not in a code is "
             "0; or of each coefficient over the codes that have it");
}

namespace {

using dct_topk::kChunk;
using dct_topk::kGroup;
using dct_topk::kGroupBytes;
using dct_topk::kSide;
using dct_topk::Mean;
using dct_topk::Options;
using dct_topk::Shape;

using Matrix = std::array<float, kChunk>;  // rows of 64 elements; the rest is zeros

/// The DCT-II of n values, as a matrix with a row for each coefficient, and its transpose, which is
/// its inverse.
struct Basis {
  Matrix forward{}, inverse{};
  explicit Basis(std::size_t n) {
    std::array<float, 4 * kSide> cosines{};
    for (std::size_t phase = 0; phase < 4 * n; ++phase) cosines[phase] = dct_topk::cosine(n, phase);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        inverse[i * kSide + k] = forward[k * kSide + i] =
            dct_topk::norm(n, k) * cosines[(2 * i + 1) * k % (4 * n)];
  }
  static const Basis& whole() {
    static const Basis basis(kSide);
    return basis;
  }
};

/// The DCT of chunks of one shape.
class Transform {
 public:
  explicit Transform(std::size_t numel) : shape_(dct_topk::shape_of(numel)), numel_(numel) {
    if (shape_.rows != kSide) rows_ = std::make_unique<Basis>(shape_.rows);
    if (shape_.columns != kSide) columns_ = std::make_unique<Basis>(shape_.columns);
  }
  std::size_t coefficients() const { return shape_.rows * shape_.columns; }

  /// The first coefficients() elements of the result are the coefficients.
  Matrix coefficients_of(const float* x) const {
    Matrix a{}, b;
    std::copy_n(x, numel_, a.begin());  // a chunk of one row, or of rows of 64 elements
    dct_topk::multiply(shape_.rows, shape_.columns, a.data(), columns().inverse.data(), b.data());
    dct_topk::multiply(shape_.rows, shape_.rows, rows().forward.data(), b.data(), a.data());
    return a;
  }
  void invert(const Matrix& coefficients, float* x) const {
    Matrix a, b;
    dct_topk::multiply_sparse(shape_.rows, shape_.columns, coefficients.data(),
                              columns().forward.data(), b.data());
    dct_topk::multiply(shape_.rows, shape_.rows, rows().inverse.data(), b.data(), a.data());
    std::copy_n(a.begin(), numel_, x);
  }

 private:
  const Basis& rows() const { return rows_ ? *rows_ : Basis::whole(); }
  const Basis& columns() const { return columns_ ? *columns_ : Basis::whole(); }

  Shape shape_;
  std::size_t numel_;
  std::unique_ptr<Basis> rows_, columns_;
};

// The `keep` largest coefficients of the orthonormal DCT-II of each chunk of 4096 elements, of
// equal ones the first, with 12 bits for the index and a bf16 for the value (DeMo, arXiv
// 2411.19870, which keeps 32 by default and sends 64 bits for an index). All other coefficients
// decode to 0. A chunk is taken as 64 rows of 64 elements and transformed along both sides; the
// last chunk has fewer rows, or one shorter row. The paper's code cuts blocks of 64 x 64 out of
// matrices; here, chunks are runs of the vector, whichever tensors it consists of.
//
// The code is a contraction, since the transform keeps norms and the largest coefficient is kept,
// rounded. A chunk whose largest coefficient is not finite in bf16 decodes to NaN everywhere, so
// that a diverged run stays visible.
//
// Wire, by chunk: the codes in the order of their indices, two in 7 bytes, the first in the lowest
// bits. 112 bytes for 4096 elements with keep 32, .219 bits per element.
class DctTopK final : public Codec {
 public:
  explicit DctTopK(const Options& options)
      : keep_(static_cast<std::size_t>(options.keep)), mean_(options.mean) {}

  std::size_t wire_bytes(std::size_t numel) const override {
    return dct_topk::wire_bytes(numel, keep_);
  }
  void encode(const Tensor& wire, const Tensor& x) override {
    check_wire(*this, wire, x);
    for_each_chunk(x.numel(), [&](std::size_t begin, std::size_t n, std::size_t byte,
                                  const Transform& transform) {
      const Matrix coefficients = transform.coefficients_of(x.floats().data() + begin);
      encode_chunk(coefficients, transform.coefficients(), n, wire.data() + byte);
    });
  }
  void decode(const Tensor& x, const Tensor& wire) override {
    check_wire(*this, wire, x);
    for_each_chunk(x.numel(), [&](std::size_t begin, std::size_t n, std::size_t byte,
                                  const Transform& transform) {
      Matrix coefficients{};
      for_each_code(wire.data() + byte, n,
                    [&](std::uint32_t i, float value) { coefficients[i] = value; });
      transform.invert(coefficients, x.floats().data() + begin);
    });
  }
  void decode_mean(Device& device, const Tensor& x, std::span<const Tensor> wires) override {
    if (mean_ == Mean::all || x.is_phantom()) return Codec::decode_mean(device, x, wires);
    for (const Tensor& wire : wires) check_wire(*this, wire, x);
    for_each_chunk(x.numel(), [&](std::size_t begin, std::size_t n, std::size_t byte,
                                  const Transform& transform) {
      Matrix sums{}, senders{};
      for (const Tensor& wire : wires)
        for_each_code(wire.data() + byte, n, [&](std::uint32_t i, float value) {
          sums[i] += value;
          senders[i] += 1;
        });
      for (std::size_t i = 0; i < kChunk; ++i)
        if (senders[i] > 0) sums[i] /= senders[i];
      transform.invert(sums, x.floats().data() + begin);
    });
  }

 private:
  /// Calls each(first element, elements, first byte of the wire, transform) for every chunk.
  template <class Each>
  void for_each_chunk(std::size_t numel, const Each& each) const {
    std::size_t byte = 0;
    std::unique_ptr<const Transform> transform;
    for (std::size_t begin = 0; begin < numel; begin += kChunk) {
      const std::size_t n = std::min(kChunk, numel - begin);
      if (!transform || n != kChunk) transform = std::make_unique<Transform>(n);
      each(begin, n, byte, *transform);
      byte += dct_topk::chunk_bytes(n, keep_);
    }
  }
  void encode_chunk(const Matrix& coefficients, std::size_t count, std::size_t n,
                    std::byte* to) const {
    const std::size_t kept = dct_topk::kept_of(n, keep_);
    const bool diverged = dct_topk::is_diverged(
        std::bit_cast<float>(magnitudes::largest(coefficients.data(), count)));
    const KeptElements chosen = KeptElements::largest_of(coefficients.data(), count, kept);
    // NaNs of different machines have different bits, and so another order.
    const auto code = [&](std::size_t i) {
      const std::uint32_t index = chosen.indices[i];
      return diverged ? dct_topk::code_of(static_cast<std::uint32_t>(i), dct_topk::kDiverged)
                      : dct_topk::code_of(index, dct_topk::bf16_of(coefficients[index]));
    };
    for (std::size_t i = 0; i < kept; i += kGroup) {
      std::uint64_t group = code(i);
      if (i + 1 < kept) group |= std::uint64_t{code(i + 1)} << dct_topk::kCodeBits;
      std::memcpy(to + i / kGroup * kGroupBytes, &group, kGroupBytes);
    }
  }
  /// Calls each(index, value) for the codes of a chunk.
  template <class Each>
  void for_each_code(const std::byte* from, std::size_t n, const Each& each) const {
    const std::size_t kept = dct_topk::kept_of(n, keep_);
    for (std::size_t i = 0; i < kept; ++i) {
      std::uint64_t group = 0;
      std::memcpy(&group, from + i / kGroup * kGroupBytes, kGroupBytes);
      const auto code = static_cast<std::uint32_t>(group >> dct_topk::kCodeBits * (i % kGroup));
      each(dct_topk::index_of(code), dct_topk::value_of(code & 0xFFFFFFF));
    }
  }

  std::size_t keep_;
  Mean mean_;
};

}  // namespace

CodecEntry dct_topk_codec_entry() {
  return codec_entry(
      "dct_topk",
      "28 bits for each of the largest coefficients of the discrete cosine transform "
      "of each 4096 elements: an index of 12 bits and a bf16; for use with error "
      "feedback (DeMo, arXiv 2411.19870)",
      dct_topk::option_fields(),
      [](const Options& options, const CodecKey&) { return std::make_unique<DctTopK>(options); });
}

}  // namespace trigram
