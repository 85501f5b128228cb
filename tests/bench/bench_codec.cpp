// Bytes of floats per second on one core: memcpy, MinMaxUInt8 encode, decode.

#include <benchmark/benchmark.h>

#include "tests/bench/codec_speed.h"

namespace trigram::test {
namespace {

template <void (CodecSpeed::*operation)()>
void bench_codec(benchmark::State& state) {
  CodecSpeed speed;
  for (auto _ : state) {
    (speed.*operation)();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(CodecSpeed::kElements * sizeof(float)));
}

BENCHMARK(bench_codec<&CodecSpeed::copy>)->Name("memcpy");
BENCHMARK(bench_codec<&CodecSpeed::encode>)->Name("minmax_uint8/encode");
BENCHMARK(bench_codec<&CodecSpeed::decode>)->Name("minmax_uint8/decode");

}  // namespace
}  // namespace trigram::test

BENCHMARK_MAIN();
