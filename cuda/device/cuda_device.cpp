#include "cuda/device/cuda_device.h"

#include <stdexcept>
#include <vector>

#include "core/device/norm_order.h"
#include "core/element_types.h"
#include "core/operands.h"
#include "core/random/philox.h"
#include "cuda/codecs/registry.h"
#include "cuda/kernels/optimizers.h"
#include "cuda/kernels/vector_ops.h"

namespace trigram {
namespace {

constexpr std::size_t kNormBytes = (cuda::kNormScratch + 1) * sizeof(double);
constexpr std::size_t kBlasWorkspace = 8 << 20;

}  // namespace

CudaDevice::Membership::Membership(cudaStream_t s, std::shared_ptr<CudaArena> a)
    : stream(s), arena(std::move(a)) {
  arena->add_stream(stream);
}

CudaDevice::Membership::~Membership() {
  try {
    arena->remove_stream(stream);
  } catch (const std::exception&) {
    // The GPU has failed, so the arena will not be used any more.
  }
}

CudaDevice::CudaDevice(cudaStream_t stream, std::shared_ptr<CudaArena> arena, Waiter& waiter)
    : stream_(stream),
      waiter_(waiter),
      membership_(stream, std::move(arena)),
      staging_(stream, waiter),
      norm_(empty(kNormBytes, DType::u8)),
      nn_(stream, empty(kBlasWorkspace, DType::u8)) {}

Tensor CudaDevice::empty(std::size_t numel, DType dtype, std::size_t priced_numel) {
  auto memory = membership_.arena->allocate(numel * size_of(dtype), stream_, waiter_);
  return {std::move(memory), numel, dtype, priced_numel};
}

void CudaDevice::fill(const Tensor& x, float value) {
  require_values(x);
  element::visit_type(x.dtype(), [&]<class Type>(Type) {
    auto* const data = reinterpret_cast<typename Type::Stored*>(x.data());
    cuda::fill(stream_, x.numel(), data, Type::store(value));
  });
}

void CudaDevice::fill_normal(const Tensor& x, Philox random) {
  TRIGRAM_CHECK(random.drawn() + 4 * x.numel() <= std::uint64_t{1} << 34,
                "more than 2^34 draws from one key");
  cuda::fill_normal(stream_, x.numel(), floats(x), random);
}

void CudaDevice::copy(const Tensor& dst, const Tensor& src) {
  require_values(dst);
  require_values(src);
  require_equal_length(dst, src);
  if (src.numel() == 0 || dst.data() == src.data()) return;
  if (dst.dtype() != src.dtype()) {
    return cuda::convert(stream_, src.numel(), dst.dtype(), dst.data(), src.dtype(), src.data());
  }
  cuda::check(
      cudaMemcpyAsync(dst.data(), src.data(), src.nbytes(), cudaMemcpyDeviceToDevice, stream_),
      "cudaMemcpyAsync");
}

void CudaDevice::axpby(float a, const Tensor& x, float b, const Tensor& y) {
  require_equal_length(x, y);
  const bool sixteen_bit =
      x.dtype() == y.dtype() && (x.dtype() == DType::f16 || x.dtype() == DType::bf16);
  if (sixteen_bit) {
    require_values(x);
    require_values(y);
  } else {
    floats(x);
    floats(y);
  }
  cuda::axpby(stream_, x.numel(), x.dtype(), a, x.data(), b, y.data());
}

void CudaDevice::maximum(const Tensor& x, const Tensor& y) {
  require_equal_length(x, y);
  cuda::maximum(stream_, x.numel(), floats(x), floats(y));
}

void CudaDevice::cut_below(float magnitude, const Tensor& x) {
  cuda::cut_below(stream_, x.numel(), magnitude, floats(x));
}

void CudaDevice::update(const UpdateRule& rule, const Tensor& w, const Tensor& g,
                        std::span<const Tensor> states) {
  require_equal_length(w, g);
  const auto own = state_operands(rule, w, states);
  cuda::update(stream_, rule, {floats(w), floats(g), {own[0], own[1]}, w.numel()});
}

void CudaDevice::update_each(const TensorRule& rule, const Tensor& w, const Tensor& g,
                             std::span<const Tensor> states, std::span<const TensorPlace> tensors) {
  require_equal_length(w, g);
  require_cover(w, tensors);
  const auto all = state_operands(rule, w, states);
  std::vector<cuda::NormedPiece> pieces;
  cuda::NormedPieces launched;
  for (const TensorPlace& t : tensors) {
    if (t.numel == 0) continue;
    cuda::Parameters p{floats(w) + t.begin, floats(g) + t.begin, {all[0], all[1]}, t.numel};
    for (float*& state : p.states)
      if (state) state += t.begin;
    pieces.push_back({{p, launched.chunks}, launched.ranges, t.is_vector()});
    launched.chunks += cuda::chunks_of(t.numel);
    const std::size_t range = norm_order::range_of(t.numel);
    launched.ranges += (t.numel + range - 1) / range;
  }
  const auto bytes = std::as_bytes(std::span(pieces));
  const Tensor table = empty(bytes.size(), DType::u8);
  const Tensor sums = empty(2 * launched.ranges * sizeof(double), DType::u8);
  const Tensor trusts = empty(pieces.size());
  upload(table, bytes);
  launched.pieces = reinterpret_cast<const cuda::NormedPiece*>(table.data());
  launched.count = static_cast<unsigned>(pieces.size());
  launched.sums = reinterpret_cast<double*>(sums.data());
  launched.trusts = floats(trusts);
  cuda::update_each(stream_, rule, launched);
}

double CudaDevice::norm2(const Tensor& x) {
  auto* const scratch = reinterpret_cast<double*>(norm_.data());
  double* const result = scratch + cuda::kNormScratch;
  cuda::norm2(stream_, x.numel(), floats(x), scratch, result);
  double norm = 0;
  staging_.download(std::as_writable_bytes(std::span(&norm, 1)),
                    reinterpret_cast<std::byte*>(result));
  return norm;
}

void CudaDevice::upload(const Tensor& dst, std::span<const std::byte> values) {
  require_values(dst);
  require_bytes(dst, values.size());
  staging_.upload(dst.data(), values);
}

void CudaDevice::download(std::span<std::byte> values, const Tensor& src) {
  require_values(src);
  require_bytes(src, values.size());
  staging_.download(values, src.data());
}

std::unique_ptr<Codec> CudaDevice::codec(const CodecSpec& spec, const CodecKey& key) {
  return cuda::make_cuda_codec(spec, key, {*this, stream_});
}

}  // namespace trigram
