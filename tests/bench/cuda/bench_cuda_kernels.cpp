// The speed of kernels as a ratio to a bound, within one run. The bound of a time is the number of
// bytes that a kernel must read and write, divided by the bandwidth of a copy within the GPU's
// memory. 1 GiB of gradients is divided into buckets of 10 MiB, of 8 or 16 chunks. Every launch
// processes all buckets, or the next bucket, so that none of its data is in the caches. Times are
// medians, measured with events of the GPU.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <thread>

#include "core/check.h"
#include "core/random/philox.h"
#include "cuda/codecs/minmax_uint8.h"
#include "cuda/codecs/registry.h"
#include "cuda/device/multi_tensor.h"
#include "tests/bench/cuda/figure_table.h"
#include "tests/bench/cuda/gpu_timer.h"
#include "tests/bench/cuda/unfused.h"
#include "tests/bench/resnet50.h"

namespace trigram::test {
namespace {

constexpr int kSkipped = 77;  // the skip code of CTest and automake

struct SpinningWaiter final : Waiter {
  void await(const Wait&, const std::function<bool()>& ready) override {
    while (!ready()) std::this_thread::yield();
  }
};

/// The sizes to measure: the full sizes, or sizes so small that an emulated GPU can run this
/// program as a check.
struct Sizes {
  std::size_t bucket = (std::size_t{10} << 20) / sizeof(float), buckets = 102;
  std::size_t arena_bytes = std::size_t{6} << 30;
  std::size_t optimizer_divisor = 1;
  int repetitions = 15;
};
constexpr Sizes kSmall = {4096, 2, std::size_t{64} << 20, 4096, 1};

/// Chunks of tensors, and their codes.
struct Chunks {
  std::vector<Tensor> xs, wires;
};

class Benchmark {
 public:
  explicit Benchmark(const Sizes& sizes)
      : sizes_(sizes),
        arena_(CudaArena::create(sizes.arena_bytes, "")),
        device_(stream(), arena_, waiter_),
        codec_(dynamic_cast<cuda::MinMaxUInt8&>(*owned_codec_)),
        all_(device_.empty(sizes_.bucket * sizes_.buckets)),
        copy_(device_.empty(sizes_.bucket * sizes_.buckets)),
        timer_(stream_, [this] {
          for (int i = 0; i < 8; ++i) device_.copy(copy_, all_);
        }) {
    device_.fill_normal(all_, Philox(1, 0, 0, Purpose::gradient_noise));
    const double copy_s = timer_.median_s(sizes_.repetitions, [&](int) {
      cuda::check(cudaMemcpyAsync(copy_.data(), all_.data(), all_.nbytes(),
                                  cudaMemcpyDeviceToDevice, stream_),
                  "cudaMemcpyAsync");
    });
    bandwidth_ = 2 * static_cast<double>(all_.nbytes()) / copy_s;
    fmt::print("device copy: {:.0f} GB/s, read and written\n\n", bandwidth_ * 1e-9);
    print_figure_header();
  }

  void run() {
    for (const std::size_t count : {8, 16}) chunked(count);
    whole_buckets();
    owners();
    single_bucket();
    optimizers();
  }

 private:
  double bytes(double per_element) const {
    return per_element * static_cast<double>(sizes_.bucket * sizes_.buckets);
  }
  /// The bound for `nbytes` bytes, divided by `seconds`.
  double ratio_to_bound(double nbytes, double seconds) const {
    return nbytes / bandwidth_ / seconds;
  }

  Chunks cut(const Tensor& x, std::size_t buckets, std::size_t count) {
    Chunks chunks;
    for (std::size_t b = 0; b < buckets; ++b) {
      for (std::size_t i = 0; i < count; ++i) {
        chunks.xs.push_back(x.slice(b * sizes_.bucket, sizes_.bucket).part(i, count));
        chunks.wires.push_back(codec_.empty_wire(device_, chunks.xs.back()));
      }
    }
    return chunks;
  }

  void chunked(std::size_t count) {
    const std::string each = fmt::format("buckets of {} chunks: ", count);
    const Chunks chunks = cut(all_, sizes_.buckets, count);
    const double fused = timer_.median_s(sizes_.repetitions,
                                         [&](int) { codec_.encode_each(chunks.wires, chunks.xs); });
    print_figure(each + "encode", fused, ratio_to_bound(bytes(5), fused), 0.8);

    std::vector<cuda::unfused::Chunk> list;
    for (std::size_t i = 0; i < chunks.xs.size(); ++i)
      list.push_back({cuda::floats(chunks.xs[i]), chunks.wires[i].data(), chunks.xs[i].numel()});
    const Tensor table = device_.empty(list.size() * sizeof(list[0]), DType::u8);
    device_.upload(table, list);
    const Tensor extremes_bytes =
        device_.empty(list.size() * sizeof(cuda::unfused::Extremes), DType::u8);
    const auto* on_gpu = reinterpret_cast<const cuda::unfused::Chunk*>(table.data());
    auto* extremes = reinterpret_cast<cuda::unfused::Extremes*>(extremes_bytes.data());
    const double batched = timer_.median_s(sizes_.repetitions, [&](int) {
      cuda::unfused::encode(stream_, on_gpu, static_cast<unsigned>(list.size()), list[0].numel,
                            extremes);
    });
    print_figure(each + "encode, vs batched min, max, quantise", batched, batched / fused, 1.8);
    const double one_by_one = timer_.median_s(std::min(5, sizes_.repetitions), [&](int) {
      for (std::size_t i = 0; i < list.size(); ++i)
        cuda::unfused::encode(stream_, on_gpu + i, 1, list[i].numel, extremes + i);
    });
    print_figure(each + "encode, vs the same launched per chunk", one_by_one, one_by_one / fused,
                 8);

    const double decoded = timer_.median_s(
        sizes_.repetitions, [&](int) { codec_.decode_each(chunks.xs, chunks.wires); });
    print_figure(each + "decode", decoded, ratio_to_bound(bytes(5), decoded), 0.8);

    const Chunks lost = cut(copy_, sizes_.buckets, count);
    const double feedback = timer_.median_s(sizes_.repetitions, [&](int) {
      codec_.encode_each_with_feedback(device_, chunks.wires, chunks.xs, lost.xs);
    });
    print_figure(each + "encode with error feedback", feedback, ratio_to_bound(bytes(13), feedback),
                 0);
  }

  void whole_buckets() {
    const Chunks chunks = cut(all_, sizes_.buckets, 1);
    const double seconds = timer_.median_s(
        sizes_.repetitions, [&](int) { codec_.encode_each(chunks.wires, chunks.xs); });
    print_figure("a whole bucket as one chunk: encode", seconds, ratio_to_bound(bytes(5), seconds),
                 0.6);
  }

  /// The encoding pass of a chunk's owner, for 8 ranks with one chunk each: it reads the chunk's
  /// codes of all ranks, and writes the code of their mean.
  void owners() {
    constexpr std::size_t kRanks = 8;
    const Chunks means = cut(all_, sizes_.buckets, kRanks);
    std::vector<Tensor> wires;  // the wires of each mean are adjacent
    for (const Tensor& x : means.xs) {
      const std::vector<Tensor> same(kRanks, x);
      for (std::size_t r = 0; r < kRanks; ++r) wires.push_back(codec_.empty_wire(device_, x));
      codec_.encode_each(std::span(wires).last(kRanks), same);
    }
    const double seconds = timer_.median_s(
        sizes_.repetitions, [&](int) { codec_.encode_means(means.wires, wires, means.xs, {}); });
    print_figure("owner's pass of 8 ranks: decode, reduce, encode", seconds,
                 ratio_to_bound(bytes(kRanks + 1), seconds), 0.7);
  }

  void single_bucket() {
    for (const std::size_t count : {8, 16}) {
      const Chunks chunks = cut(all_, sizes_.buckets, count);
      const auto bucket = [&](const std::vector<Tensor>& list, int i) {
        return std::span(list).subspan(static_cast<std::size_t>(i) % sizes_.buckets * count, count);
      };
      const double seconds = timer_.median_s(static_cast<int>(sizes_.buckets), [&](int i) {
        codec_.encode_each(bucket(chunks.wires, i), bucket(chunks.xs, i));
      });
      print_figure(fmt::format("a single bucket of {} chunks: encode", count), seconds,
                   ratio_to_bound(5.0 * static_cast<double>(sizes_.bucket), seconds), 0);
    }
  }

  void optimizers() {
    const std::vector<std::size_t> lengths = resnet50_tensors();
    const std::size_t numel = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    TRIGRAM_CHECK(lengths.size() == 161 && numel == 25557032, "{} tensors, {} parameters",
                  lengths.size(), numel);
    std::vector<TensorPlace> places;
    std::size_t total = 0;
    for (const std::size_t full : lengths) {
      const std::size_t n = (full + sizes_.optimizer_divisor - 1) / sizes_.optimizer_divisor;
      places.push_back({total, n, 0});
      total += n;
    }
    const auto count = static_cast<double>(total);
    // The tensors lie in one bucket, as in training.
    const Tensor w = device_.empty(total), g = device_.empty(total);
    const std::vector<Tensor> states = {device_.empty(total), device_.empty(total)};
    for (const Tensor& x : {w, g, states[0], states[1]}) device_.fill(x, 0.5f);
    std::vector<MultiTensor::Operands> tensors;
    for (const TensorPlace& t : places) {
      const auto part = [&](const Tensor& x) { return x.slice(t.begin, t.numel); };
      tensors.push_back({part(w), part(g), {part(states[0]), part(states[1])}});
    }
    const MultiTensor all(device_, tensors);
    const auto measured = [&](const std::string& name, const UpdateRule& rule,
                              std::size_t moments) {
      const double bound = 4 * static_cast<double>(3 + 2 * moments) * count;
      const auto first = [&](const std::vector<Tensor>& list) {
        return std::span(list).first(moments);
      };
      const double fused = timer_.median_s(sizes_.repetitions, [&](int) { all.update(rule); });
      print_figure(name + ", 161 tensors of ResNet-50", fused, ratio_to_bound(bound, fused), 0.8);
      const double bucket = timer_.median_s(
          sizes_.repetitions, [&](int) { device_.update(rule, w, g, first(states)); });
      print_figure(name + ", the same in one bucket", bucket, ratio_to_bound(bound, bucket), 0);
      const double each = timer_.median_s(sizes_.repetitions, [&](int) {
        for (const auto& t : tensors) device_.update(rule, t.w, t.g, first(t.states));
      });
      print_figure(name + ", vs a launch per tensor", each, each / bucket, 0);
    };
    measured("SGD with momentum",
             MomentumStep{.lr = 1e-3f, .momentum = 0.9f, .weight_decay = 1e-4f}, 1);
    measured("Adam", AdamStep{.lr = 1e-3f}, 2);
    const double lamb_s = timer_.median_s(sizes_.repetitions, [&](int) {
      device_.update_each(LambStep{.lr = 1e-3f}, w, g, states, places);
    });
    print_figure("LAMB, 161 tensors of ResNet-50", lamb_s,
                 ratio_to_bound(4 * LambStep::kPasses * count, lamb_s), 0);
  }

  cudaStream_t stream() {
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream_;
  }

  Sizes sizes_;
  cudaStream_t stream_ = nullptr;
  SpinningWaiter waiter_;
  std::shared_ptr<CudaArena> arena_;
  CudaDevice device_;
  std::unique_ptr<Codec> owned_codec_ =
      cuda::make_cuda_codec({"minmax_uint8"}, {}, {device_, stream_});
  cuda::MinMaxUInt8& codec_;
  Tensor all_, copy_;
  GpuTimer timer_;
  double bandwidth_ = 0;
};

}  // namespace
}  // namespace trigram::test

int main(int argc, char** argv) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    fmt::print(stderr, "skipped: no GPU ({})\n", cudaGetErrorString(code));
    return trigram::test::kSkipped;
  }
  cudaDeviceProp gpu = {};
  trigram::cuda::check(cudaGetDeviceProperties(&gpu, 0), "cudaGetDeviceProperties");
  fmt::print("{}, {} multiprocessors, L2 cache of {} MiB\n", gpu.name, gpu.multiProcessorCount,
             gpu.l2CacheSize >> 20);
  try {
    using namespace trigram::test;
    const bool small = argc == 2 && std::string(argv[1]) == "--small";
    Benchmark(small ? kSmall : Sizes{}).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
