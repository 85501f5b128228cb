// Seconds that one core takes for a step of the 161 tensors of ResNet-50. x_memcpy is the time of
// the bytes that a step must read and write, at the speed of memcpy, divided by the time of the
// step; x_addition is the same at the speed of y = x + y. They are measured in turns.

#include <benchmark/benchmark.h>

#include "tests/bench/optimizer_speed.h"

namespace trigram::test {
namespace {

void bench_optimizer(benchmark::State& state, const MeasuredOptimizer& measured) {
  OptimizerSpeed speed(measured);
  for (auto _ : state) state.SetIterationTime(speed.measure());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(speed.nbytes()));
  state.counters["x_memcpy"] = speed.ratio_to_memcpy();
  state.counters["x_addition"] = speed.ratio_to_addition();
}

}  // namespace
}  // namespace trigram::test

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const auto& measured : trigram::test::measured_optimizers()) {
    const auto run = [measured](benchmark::State& state) {
      trigram::test::bench_optimizer(state, measured);
    };
    benchmark::RegisterBenchmark(measured.name.c_str(), run)->UseManualTime()->MinTime(0.5);
  }
  benchmark::RunSpecifiedBenchmarks();
}
