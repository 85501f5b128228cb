#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trigram {

/// Counts the floating-point operations that PyTorch makes on this thread.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;
  /// The operations since the last call.
  double take();

 private:
  std::uint64_t callback_;
};

/// What one pass shows.
struct TrialResult {
  std::vector<std::size_t> order;  // tensors as backward completes them, then those it leaves out
  double forward_flops = 0;
  std::vector<double> backward_flops;  // in this order
  bool is_random = false;              // the forward pass draws random numbers
  std::string error;                   // empty if the pass succeeded
};

/// Runs one pass of a model on a thread of its own, in a child process if autograd has not started
/// in this one: PyTorch refuses to use autograd in a process whose parent has started it, and each
/// run is a forked process.
TrialResult run_trial(const std::function<TrialResult(FlopCounter&)>& pass);

/// Called before the first backward pass of this process.
void autograd_starts_here();

}  // namespace trigram
