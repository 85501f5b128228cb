#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime.h"
#include "experiments/bench/measure.h"
#include "experiments/calibrate/line_fit.h"
#include "experiments/calibrate/window_probe.h"
#include "experiments/calibrate/workload_probe.h"

namespace trigram {

struct CalibrationOptions {
  SizeRange ladder;
  std::shared_ptr<const WorkloadFactory> workload;  // none when null
  int steps = 30;                                   // of the workload
};

/// A probe at all its sizes, what is fitted to it, and what the sizes are of: a message, or the
/// memory that an operation of the device reads and writes.
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
///   sgd        an optimizer's step on all ranks: memory bandwidth
///   axpby      y = x + y: the rate of reductions
///   copy       y = x: the rate of copies
///   encode     by the default codec: the rate of codecs, together with
///   decode     the same back; these five have one launch overhead
///   gemm       square matrix products on all ranks: the rate of arithmetic
///   workload   when given, in place of gemm: the rate at which its training steps take as long as
///              they do
///   window     long messages over one connection, and over several at once: the window of a
///              connection and, where it binds, the bandwidth of the NICs, in place of sendrecv's
///   allreduce  by a ring; its fit is what the description predicts, not a line through it
struct Calibration {
  std::vector<Probe> probes;
  std::optional<StepProbe> step;
  std::optional<WindowProbe> window;  // of several ranks
  Cluster cluster;
};

/// Fits lines to what has been probed, and describes it as a cluster of so many ranks. Throws
/// std::runtime_error where the times are no lines (line_fit.h).
void describe(Calibration& calibration, int ranks);

/// Measures on all ranks of a world in real time and describes it; the result, and what is wrong
/// with it, is that of rank 0. Where ranks are processes the others get an empty one.
Calibration calibrate(Runtime& runtime, int ranks, const CalibrationOptions& options);

/// Seconds of a ring allreduce of so many bytes of f32, by the description, on ranks that have a
/// node each and whose windows, if they have any, are open.
double ring_seconds(const Cluster& cluster, double bytes);

}  // namespace trigram
