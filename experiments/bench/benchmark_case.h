#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/context.h"

namespace trigram {

/// One operation on tensors of one length, on one rank.
class BenchmarkCase {
 public:
  virtual ~BenchmarkCase() = default;
  /// Fills the operands anew. Without it, `run` works on what the run before has left.
  virtual void fill() = 0;
  virtual void run() = 0;
  /// Elements that are not what one run after `fill` should make of them, each compared with an
  /// expectation that is computed apart.
  virtual std::size_t wrong() const = 0;
  /// Bytes that the hardware has to move at least, per byte of the operand: what bus bandwidth
  /// counts.
  virtual double bus_factor() const = 0;
};

/// An operation that can be benchmarked.
struct BenchEntry {
  std::string operation;    // "allreduce", "encode", ...
  std::string algorithm;    // "ring", ...; of codecs the codec
  std::string redop = {};   // "sum" or "none"
  bool native = false;      // by the world's own collective
  bool of_library = false;  // as another library makes it; only where time is simulated
  double runs = 1;          // what is timed is this many of what is reported
  std::size_t least_ranks = 1;
  std::function<std::unique_ptr<BenchmarkCase>(Context ctx, std::size_t numel)> make = {};
};

/// Collectives by every algorithm, and exchanges between neighbours. Bus bandwidth is that of
/// nccl-tests (doc/PERFORMANCE.md): with P ranks a byte of allreduce counts 2(P-1)/P, of
/// reduce_scatter, allgather and all_to_all (P-1)/P, of all others 1.
const std::vector<BenchEntry>& collective_benches();

/// Every codec, on the device of the world, by all ranks at the same time. A byte counts once for
/// what is read or written of the vector, and as many as its code has.
const std::vector<BenchEntry>& codec_benches();

}  // namespace trigram
