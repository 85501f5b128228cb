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
  SizeRange sizes;
  std::shared_ptr<const WorkloadFactory> workload;  // null: no workload
  int steps = 30;                                   // training steps of the workload
};

/// The measurements of a probe at all its sizes, and the line fitted to them. A size (in `unit`) is
/// the length of a message in bytes, the number of bytes that an operation of the device reads and
/// writes, or a number of arithmetic operations.
struct Probe {
  std::string name;
  std::vector<Sample> samples;
  LineFit fit;
  std::string unit = "B";
};

/// The measurements of a world, and the equivalent cluster, in which every rank is a node with its
/// own NIC.
///
///   sendrecv   all ranks send to one neighbour and receive from the other at once: latency and
///              bandwidth of the NICs, under the contention of collectives
///   pingpong   messages between two ranks while the others wait; for comparison only
///   sgd        an optimizer's step on all ranks: memory bandwidth
///   axpby      y = x + y: the rate of reductions
///   copy       y = x: the rate of copies
///   encode     with the default codec: the rate of codecs, together with decode
///   decode     with the default codec
///   gemm       square matrix products on all ranks: the rate of arithmetic
///   workload   if given, replaces gemm: the rate of arithmetic that explains its step time
///   window     long messages over one connection and over several at once: the window of a
///              connection and, if the window limits a connection, the bandwidth of the NICs,
///              which then replaces the bandwidth of sendrecv
///   allreduce  by a ring; its fit is the prediction of the description, not a fitted line
///
/// The probes from sgd to decode share one launch overhead.
struct Calibration {
  std::vector<Probe> probes;
  std::optional<StepProbe> step;
  std::optional<WindowProbe> window;  // present if there are several ranks
  Cluster cluster;
};

/// Fits lines to the probes, and sets `cluster` to the equivalent cluster of `ranks` ranks. Throws
/// std::runtime_error if no line fits the times (line_fit.h).
void describe(Calibration& calibration, int ranks);

/// Measures a world in real time on all its ranks and describes it. Rank 0 describes its own
/// measurements, and throws if it cannot. If ranks are processes, the other ranks get an empty
/// result.
Calibration calibrate(Runtime& runtime, int ranks, const CalibrationOptions& options);

/// The seconds that the description predicts for a ring allreduce of `bytes` bytes of f32. There is
/// one rank per node, and the TCP windows of connections, if described, are fully open.
double ring_seconds(const Cluster& cluster, double bytes);

}  // namespace trigram
