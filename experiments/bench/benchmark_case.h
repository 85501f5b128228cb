#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"

namespace trigram {

/// A rank's part in one operation on tensors of one length.
class BenchmarkCase {
 public:
  virtual ~BenchmarkCase() = default;
  /// Initializes the operands. Without another call, each `run` works on the results of the run
  /// before it.
  virtual void fill() = 0;
  virtual void run() = 0;
  /// The number of elements that differ from the expected result of one `run` after `fill`. The
  /// expected result is computed independently.
  virtual std::size_t wrong() const = 0;
  /// The least number of bytes that hardware must move per byte of the operand. Bus bandwidth is
  /// the algorithm bandwidth times this factor.
  virtual double bus_factor() const = 0;
};

/// An operation that can be benchmarked.
struct BenchEntry {
  std::string operation;          // "allreduce", "encode", ...
  std::string algorithm;          // for example "ring"; for encode and decode, the codec
  std::string redop = {};         // "sum" or "none"
  bool native = false;            // uses the world's own collective
  bool imitates_library = false;  // imitates another library; only for simulated worlds
  double runs = 1;                // number of reported operations in one timed run
  std::size_t least_ranks = 1;
  std::function<std::unique_ptr<BenchmarkCase>(Context ctx, std::size_t numel)> make = {};
};

/// Collectives with every algorithm, and exchanges between neighbours. Bus bandwidth is defined as
/// in nccl-tests (doc/PERFORMANCE.md): with P ranks, the bus factor is 2(P-1)/P for allreduce,
/// (P-1)/P for reduce_scatter, allgather and all_to_all, and 1 for all others.
const std::vector<BenchEntry>& collective_benches();

/// Every codec, on the world's device, on all ranks at the same time. The bus factor counts every
/// byte of the vector and every byte of its code once.
const std::vector<BenchEntry>& codec_benches();

}  // namespace trigram
