#include "algorithms/execution/orthonormal_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "algorithms/primitives/primitives.h"
#include "core/math/low_rank.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// A real and a priced number of elements.
struct Length {
  std::size_t real = 0, priced = 0;
};

/// A tensor of a bucket: a matrix, or a vector, whose shapes have no rows.
struct Piece {
  std::size_t begin = 0;
  Length numel = {};
  MatrixShape real = {}, priced = {};
  Length rank = {};  // columns of the factors

  bool is_vector() const { return real.rows == 0; }
  Length matrix() const { return {real.rows * real.cols, priced.rows * priced.cols}; }
  Length right() const { return {rank.real * real.cols, rank.priced * priced.cols}; }
  Length vector() const { return is_vector() ? numel : Length{}; }
  /// The factor P or, of a vector, all elements.
  Length left() const {
    return is_vector() ? numel : Length{rank.real * real.rows, rank.priced * priced.rows};
  }
  Tensor of(const Tensor& bucket) const { return bucket.slice(begin, numel.real, numel.priced); }
};
using Pieces = std::vector<Piece>;

MatrixShape shape_of(const TensorPlace& tensor, std::size_t numel) {
  if (tensor.is_vector() || numel == 0) return {0, 0};
  return tensor.rows > 0 ? MatrixShape{tensor.rows, numel / tensor.rows} : nearly_square(numel);
}

Pieces pieces_of(const Bucket& bucket, double rank_fraction) {
  std::vector<TensorPlace> tensors = bucket.tensors;
  if (tensors.empty()) tensors = {{.begin = 0, .numel = bucket.grad.numel(), .rows = 0}};
  const auto rank = [rank_fraction](MatrixShape shape) {
    const auto shorter = static_cast<double>(std::min(shape.rows, shape.cols));
    return static_cast<std::size_t>(std::ceil(rank_fraction * shorter * (1 - 0x1p-48)));
  };
  Pieces pieces;
  for (const TensorPlace& tensor : tensors) {
    Piece piece{.begin = tensor.begin, .numel = {tensor.numel, tensor.numel}};
    if (bucket.tensors.empty()) piece.numel.priced = bucket.grad.priced_numel();
    piece.real = shape_of(tensor, piece.numel.real);
    piece.priced = shape_of(tensor, piece.numel.priced);
    piece.rank = {rank(piece.real), rank(piece.priced)};
    pieces.push_back(piece);
  }
  return pieces;
}

using LengthOf = Length (Piece::*)() const;

/// A tensor for the given part of all pieces, one after another.
Tensor empty(Device& device, const Pieces& pieces, LengthOf length) {
  Length sum;
  for (const Piece& piece : pieces) {
    sum.real += (piece.*length)().real;
    sum.priced += (piece.*length)().priced;
  }
  return device.empty(sum.real, DType::f32, sum.priced);
}
/// The parts of such a tensor that belong to the pieces.
std::vector<Tensor> cut(const Tensor& all, const Pieces& pieces, LengthOf length) {
  std::vector<Tensor> parts;
  std::size_t begin = 0;
  for (const Piece& piece : pieces) {
    const auto [real, priced] = (piece.*length)();
    parts.push_back(all.slice(begin, real, priced));
    begin += real;
  }
  return parts;
}

/// The state of a bucket between steps, and its update. Factors are stored as r vectors.
class BucketUpdate {
 public:
  BucketUpdate(Context c, const OrthonormalUpdate& options, const Pieces& pieces,
               const TrainingState& state, std::uint64_t seed, int bucket)
      : options_(options), pieces_(pieces), device_(*c.device) {
    const auto zeros = [&](LengthOf length) {
      const Tensor x = empty(device_, pieces, length);
      device_.fill(x, 0);
      return x;
    };
    momenta_ = cut(state.tensor("momentum", [&] { return zeros(&Piece::matrix); }), pieces,
                   &Piece::matrix);
    means_ =
        cut(state.tensor("mean", [&] { return zeros(&Piece::vector); }), pieces, &Piece::vector);
    variances_ = cut(state.tensor("variance", [&] { return zeros(&Piece::vector); }), pieces,
                     &Piece::vector);
    const auto drawn = [&] {
      const Tensor q = empty(device_, pieces, &Piece::right);
      device_.fill_normal(q, Philox(seed, bucket, 0, Purpose::codec));
      for (const auto parts = cut(q, pieces, &Piece::right); const std::size_t i : matrices())
        device_.nn().normalise(pieces[i].rank.real, pieces[i].real.cols, parts[i]);
      return q;
    };
    rights_ = cut(state.tensor("right", drawn), pieces, &Piece::right);
    random_ = cut(drawn(), pieces, &Piece::right);
    powers_ = state.values<double>("powers of beta", 2, 1.0);
  }

  void operator()(Context c, const Tensor& x) {
    const Tensor left = empty(device_, pieces_, &Piece::left),
                 right = empty(device_, pieces_, &Piece::right);
    const auto ps = cut(left, pieces_, &Piece::left), rs = cut(right, pieces_, &Piece::right);
    for (std::size_t i = 0; i < pieces_.size(); ++i) begin(pieces_[i], x, i, ps[i]);
    c_fp_s(c, left, options_.allreduce);
    for (const std::size_t i : matrices()) {
      const auto [rows, cols] = pieces_[i].real;
      const std::size_t rank = pieces_[i].rank.real;
      // Columns of R are scaled to the norm 1 below, so a replaced direction would make a full
      // step.
      device_.nn().orthonormalise(rank, rows, ps[i], Dependent::becomes_zero);
      device_.nn().gemm({.m = rank, .n = cols, .k = rows}, ps[i], momenta_[i], 0, rs[i]);
    }
    c_fp_s(c, right, options_.allreduce);
    powers_[0] *= options_.beta1;
    powers_[1] *= options_.beta2;
    for (std::size_t i = 0; i < pieces_.size(); ++i) finish(pieces_[i], x, i, ps[i], rs[i]);
  }

 private:
  std::vector<std::size_t> matrices() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (!pieces_[i].is_vector()) indices.push_back(i);
    return indices;
  }
  /// p = M Q or, of a vector, the gradient.
  void begin(const Piece& piece, const Tensor& x, std::size_t i, const Tensor& p) {
    const Tensor g = piece.of(x);
    if (piece.is_vector()) return device_.copy(p, g);
    const auto [rows, cols] = piece.real;
    device_.axpby(1, g, 1, momenta_[i].slice(0, piece.numel.real, piece.numel.priced));
    device_.nn().gemm({.m = piece.rank.real, .n = rows, .k = cols, .transpose_b = true}, rights_[i],
                      momenta_[i], 0, p);
  }
  /// Updates the state with the means, and writes the update to x.
  void finish(const Piece& piece, const Tensor& x, std::size_t i, const Tensor& p,
              const Tensor& r) {
    const Tensor u = piece.of(x);
    if (piece.is_vector()) {
      device_.fill(u, 0);
      return device_.update(adam(), u, p, {means_[i], variances_[i]});
    }
    const auto [rows, cols] = piece.real;
    const Gemm product{.m = rows, .n = cols, .k = piece.rank.real, .transpose_a = true};
    const Tensor scaled = device_.copy_of(p),
                 whole = device_.empty_like(momenta_[i]);  // longer than u by padding
    device_.axpby(static_cast<float>(options_.momentum - 1), p, 0, scaled);
    device_.nn().gemm(product, scaled, r, 1, momenta_[i]);
    if (piece.numel.real < rows * cols) {  // the padding is no part of the tensor
      const Length all = piece.matrix();
      device_.fill(momenta_[i].slice(piece.numel.real, all.real - piece.numel.real,
                                     all.priced - piece.numel.priced),
                   0);
    }
    device_.copy(rights_[i], r);
    device_.nn().normalise(piece.rank.real, cols, rights_[i]);
    device_.axpby(std::sqrt(static_cast<float>(rows) / static_cast<float>(cols)), p, 0, scaled);
    device_.nn().gemm(product, scaled, rights_[i], 0, whole);
    device_.copy(u, whole.slice(0, piece.numel.real, piece.numel.priced));
    // A column of Q that is 0, because M had fewer directions than Q has columns, would stay 0. Now
    // it is a random direction; the other columns change by a millionth.
    device_.axpby(kRandomShare, random_[i], 1, rights_[i]);
  }
  /// Adam's step from 0, which gives the update itself.
  AdamStep adam() const {
    return {.lr = -1,
            .beta1 = static_cast<float>(options_.beta1),
            .beta2 = static_cast<float>(options_.beta2),
            .eps = static_cast<float>(options_.eps),
            .correction1 = static_cast<float>(1 - powers_[0]),
            .correction2 = static_cast<float>(1 - powers_[1])};
  }

  const OrthonormalUpdate& options_;
  const Pieces& pieces_;
  Device& device_;
  static constexpr float kRandomShare = 1e-6f;
  std::vector<Tensor> momenta_, rights_, random_, means_, variances_;  // by piece
  std::span<double> powers_;
};

}  // namespace

Exchange orthonormal_update(const OrthonormalUpdate& options, std::span<const Bucket> buckets,
                            std::uint64_t seed, const TrainingState& state) {
  std::vector<Pieces> pieces;
  for (const Bucket& bucket : buckets) pieces.push_back(pieces_of(bucket, options.rank_fraction));
  return [options, pieces, state, seed](Context c, const Tensor& x, Slot slot) {
    BucketUpdate(c, options, pieces[static_cast<std::size_t>(slot.bucket)],
                 state.child(fmt::format("bucket {}", slot.bucket)), seed, slot.bucket)(c, x);
  };
}

}  // namespace trigram
