// Seconds that every codec with its default options takes to encode and decode 10 MiB of floats on
// one core. x_memcpy is the time of memcpy of the same floats, divided by this time; the two are
// measured in turns.

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "core/codecs/registry.h"
#include "tests/bench/codec_speed.h"

namespace trigram::test {
namespace {

template <void (CodecSpeed::*operation)()>
double seconds_of(CodecSpeed& speed) {
  const auto begin = std::chrono::steady_clock::now();
  (speed.*operation)();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <void (CodecSpeed::*operation)()>
void bench_codec(benchmark::State& state, const CodecSpec& spec) {
  CodecSpeed speed(spec);
  double operation_s = 1e9, memcpy_s = 1e9;  // the shortest time of each
  for (auto _ : state) {
    memcpy_s = std::min(memcpy_s, seconds_of<&CodecSpeed::copy>(speed));
    const double taken = seconds_of<operation>(speed);
    operation_s = std::min(operation_s, taken);
    state.SetIterationTime(taken);
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(CodecSpeed::kElements * sizeof(float)));
  state.counters["x_memcpy"] = memcpy_s / operation_s;
}

void register_benchmarks() {
  for (const CodecEntry& codec : codecs()) {
    const CodecSpec spec{codec.name};
    const auto add = [](const std::string& name, const auto& function) {
      benchmark::RegisterBenchmark(name.c_str(), function)->UseManualTime()->MinTime(0.2);
    };
    add(spec.name + "/encode",
        [spec](benchmark::State& s) { bench_codec<&CodecSpeed::encode>(s, spec); });
    add(spec.name + "/decode",
        [spec](benchmark::State& s) { bench_codec<&CodecSpeed::decode>(s, spec); });
  }
}

}  // namespace
}  // namespace trigram::test

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  trigram::test::register_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
}
