#include "core/random/philox.h"
#include "cuda/kernels/grid.h"
#include "cuda/kernels/groups.h"
#include "cuda/kernels/rounding.h"
#include "cuda/kernels/vector_ops.h"

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

// Special forms of axpby: `scaled` does not read y (b = 0), and `sum` multiplies by no factors
// (a = b = 1), which is the most frequent form.
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

struct Maximum {
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
                       reinterpret_cast<std::byte*>(y), Maximum{});
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

namespace {

struct Draws {
  Philox::Block counter;  // the counter of block 0
  Philox::Key key;
  std::uint32_t first_block;
  unsigned used;  // number of words of block `first_block` that were already drawn
};

__device__ Philox::Block block_of(const Draws& draws, std::uint32_t index) {
  return Philox::encrypt({index, draws.counter[1], draws.counter[2], draws.counter[3]}, draws.key);
}

// A normally distributed number takes four words. They span two random blocks if single words were
// drawn before.
__global__ void normal_kernel(std::size_t n, float* x, Draws draws) {
  for (std::size_t i = grid_thread(); i < n; i += grid_threads()) {
    const auto index = static_cast<std::uint32_t>(draws.first_block + i);
    Philox::Block words = block_of(draws, index);
    if (draws.used > 0) {
      const Philox::Block next = block_of(draws, index + 1);
      Philox::Block both = {};
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned word = draws.used + j;
        both[j] = word < 4 ? words[word] : next[word - 4];
      }
      words = both;
    }
    x[i] = Philox::normal_of(words);
  }
}

}  // namespace

void fill_normal(cudaStream_t stream, std::size_t n, float* x, const Philox& random) {
  if (n == 0) return;
  const std::uint64_t begin = random.drawn();
  const Draws draws{random.counter(0), random.key(), static_cast<std::uint32_t>(begin / 4),
                    static_cast<unsigned>(begin % 4)};
  launch(stream, {.grid = blocks_for(n)}, normal_kernel, n, x, draws);
}

}  // namespace trigram::cuda
