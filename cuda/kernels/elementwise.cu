#include "cuda/kernels/elementwise.h"

#include "cuda/kernels/groups.h"
#include "cuda/kernels/rounding.h"

namespace trigram::cuda {
namespace {

template <class T>
struct Fill {
  using Pack = typename PackOf<T>::Pack;
  __device__ __forceinline__ void one(std::size_t i) const { x[i] = value; }
  __device__ __forceinline__ void four(std::size_t i) const {
    *reinterpret_cast<Pack*>(x + i) = Pack{value, value, value, value};
  }
  T* x;
  T value;
};

// The form of axpby. Sums without factors are the most frequent form; an output that is overwritten
// is not read.
enum class Form { scaled, sum, general };

template <Form form>
struct Combine {
  __device__ __forceinline__ float operator()(float x, float y) const {
    if (form == Form::scaled) return mul(a, x);
    if (form == Form::sum) return add(x, y);
    return add(mul(a, x), mul(b, y));
  }
  static constexpr bool kReadsY = form != Form::scaled;
  float a, b;
};

// If the output is overwritten, the 16-bit formats add zero, which turns -0 into +0.
template <bool reads_y>
struct CombineSixteenBit {
  __device__ __forceinline__ float operator()(float x, float y) const {
    return add(mul(a, x), reads_y ? mul(b, y) : 0.0f);
  }
  static constexpr bool kReadsY = reads_y;
  float a, b;
};

struct Larger {
  __device__ __forceinline__ float operator()(float x, float y) const { return x > y ? x : y; }
  static constexpr bool kReadsY = true;
};

struct CutBelow {
  __device__ __forceinline__ float operator()(float x, float) const {
    return fabsf(x) < magnitude ? 0 : x;
  }
  static constexpr bool kReadsY = false;
  float magnitude;
};

// y = f(x, y)
template <class Type, class Function>
struct Update {
  __device__ __forceinline__ void one(std::size_t i) const {
    y.store(i, f(x.load(i), Function::kReadsY ? y.load(i) : 0));
  }
  __device__ __forceinline__ void four(std::size_t i) const {
    const Four xs = x.load_four(i);
    Four ys = {};
    if (Function::kReadsY) ys = y.load_four(i);
    for (int j = 0; j < 4; ++j) ys.v[j] = f(xs.v[j], ys.v[j]);
    y.store_four(i, ys);
  }
  Vector<Type> x, y;
  Function f;
};

template <class Type, class Function>
void update(cudaStream_t stream, std::size_t n, const std::byte* x, std::byte* y,
            const Function& f) {
  using Stored = typename Type::Stored;
  // `from` is only read, but Vector takes non-const pointers.
  auto* from = reinterpret_cast<Stored*>(const_cast<std::byte*>(x));
  auto* to = reinterpret_cast<Stored*>(y);
  const Cut cut = cut_for(n, to);
  launch_groups(stream, cut, Update<Type, Function>{{from, cut.head}, {to, cut.head}, f});
}

template <class Type>
void update_sixteen_bit(cudaStream_t stream, std::size_t n, float a, const std::byte* x, float b,
                        std::byte* y) {
  if (b == 0) return update<Type>(stream, n, x, y, CombineSixteenBit<false>{a, b});
  update<Type>(stream, n, x, y, CombineSixteenBit<true>{a, b});
}

template <class To, class From>
struct Convert {
  __device__ __forceinline__ void one(std::size_t i) const { dst.store(i, src.load(i)); }
  __device__ __forceinline__ void four(std::size_t i) const { dst.store_four(i, src.load_four(i)); }
  Vector<To> dst;
  Vector<From> src;
};

}  // namespace

template <class T>
void fill(cudaStream_t stream, std::size_t n, T* x, T value) {
  launch_groups(stream, cut_for(n, x), Fill<T>{x, value});
}

template void fill(cudaStream_t, std::size_t, float*, float);
template void fill(cudaStream_t, std::size_t, std::uint16_t*, std::uint16_t);
template void fill(cudaStream_t, std::size_t, std::uint8_t*, std::uint8_t);

void axpby(cudaStream_t stream, std::size_t n, DType type, float a, const std::byte* x, float b,
           std::byte* y) {
  using namespace element;
  if (type == DType::bf16) return update_sixteen_bit<BF16>(stream, n, a, x, b, y);
  if (type == DType::f16) return update_sixteen_bit<F16>(stream, n, a, x, b, y);
  if (b == 0) return update<F32>(stream, n, x, y, Combine<Form::scaled>{a, b});
  if (a == 1 && b == 1) return update<F32>(stream, n, x, y, Combine<Form::sum>{a, b});
  update<F32>(stream, n, x, y, Combine<Form::general>{a, b});
}

void maximum(cudaStream_t stream, std::size_t n, const float* x, float* y) {
  update<element::F32>(stream, n, reinterpret_cast<const std::byte*>(x),
                       reinterpret_cast<std::byte*>(y), Larger{});
}

void cut_below(cudaStream_t stream, std::size_t n, float magnitude, float* x) {
  auto* bytes = reinterpret_cast<std::byte*>(x);
  update<element::F32>(stream, n, bytes, bytes, CutBelow{magnitude});
}

void convert(cudaStream_t stream, std::size_t n, DType to, std::byte* dst, DType from,
             const std::byte* src) {
  element::visit_type(to, [&]<class To>(To) {
    element::visit_type(from, [&]<class From>(From) {
      auto* target = reinterpret_cast<typename To::Stored*>(dst);
      auto* source = reinterpret_cast<typename From::Stored*>(const_cast<std::byte*>(src));
      const Cut cut = cut_for(n, target);
      launch_groups(stream, cut, Convert<To, From>{{target, cut.head}, {source, cut.head}});
    });
  });
}

}  // namespace trigram::cuda
