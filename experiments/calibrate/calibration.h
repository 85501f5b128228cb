#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime.h"
#include "experiments/bench/measure.h"
#include "experiments/calibrate/line_fit.h"
#include "experiments/calibrate/workload_probe.h"

namespace trigram {

struct CalibrationOptions {
  Ladder ladder;
  std::shared_ptr<const WorkloadFactory> workload;  // none when null
  int steps = 30;                                   // of the workload
};

/// A probe at all its sizes, what is fitted to it, and what the sizes are of.
struct Probe {
  std::string name;
  std::vector<Sample> samples;
  LineFit fit;
  std::string unit = "B";
};

/// What was measured of a world, and the cluster that it amounts to: every rank a node with a NIC
/// of its own.
///
///   sendrecv   all ranks send to one neighbour and receive from another at the same time: latency
///              and bandwidth of the NICs, under the contention that collectives meet
///   pingpong   the same between two ranks while the others wait; for comparison only
///   axpby      y = x + y on all ranks: launch overhead and memory bandwidth
///   gemm       square matrix products on all ranks: the rate of arithmetic
///   workload   when given, in place of gemm: the rate at which its training steps take as long as
///              they do
///   allreduce  by a ring; its fit is what the description predicts, not a line through it
struct Calibration {
  std::vector<Probe> probes;
  std::optional<StepProbe> step;
  Cluster cluster;
};

/// Measures on all ranks of a world in real time; the result is that of rank 0.
Calibration calibrate(Runtime& runtime, int ranks, const CalibrationOptions& options);

/// Seconds of a ring allreduce of so many bytes of f32, by the description, on ranks that have a
/// node each.
double ring_seconds(const Cluster& cluster, double bytes);

}  // namespace trigram
