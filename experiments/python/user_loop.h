#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "core/torch/ready_tensors.h"

namespace trigram {

/// Synchronises a training loop that the user has written, on the user's thread, with the loop of
/// an algorithm, on another thread. A step of the user's loop is
///
///   begin_step, forward pass, end_forward, backward pass with `complete` of every gradient,
///   end_backward.
///
/// The algorithm's loop calls `await_step` before each iteration, `forward` and `backward` of a
/// workload inside it, and `end_iteration` after it. An algorithm that makes several passes in an
/// iteration takes them from several steps.
class UserLoop {
 public:
  explicit UserLoop(std::size_t tensors) : ready_(tensors) {}

  // The user's thread. These functions rethrow the exception that has ended the algorithm.

  /// Returns when the algorithm expects a forward pass: weights and buffers may be read until
  /// `end_backward`.
  void begin_step();
  void end_forward(double loss);
  void complete(std::size_t tensor) { ready_.complete(tensor); }
  /// Returns when the weights are those of the next step.
  void end_backward();
  /// Runs `function` on the algorithm's thread between two iterations, and returns when it has run;
  /// rethrows its exception.
  void between_steps(const std::function<void()>& function);
  /// No step follows. Between two steps, the algorithm's loop ends regularly.
  void close();

  // The algorithm's thread.

  /// Blocks until the user begins a step, and returns true; or false after `close`.
  bool await_step();
  void end_iteration();
  /// A forward pass of the user. Throws Closed if there is none.
  void forward();
  void backward(const std::function<void()>& on_tensor) { ready_.take(on_tensor); }
  double loss() const { return loss_; }
  /// The algorithm's loop is ready for the first step, or has ended, by an exception or regularly.
  void started() { end_iteration(); }
  void ended(std::exception_ptr error);

  /// The user closed the loop in the middle of an iteration.
  class Closed : public std::runtime_error {
   public:
    Closed() : std::runtime_error("the training loop was closed in the middle of a step") {}
  };

 private:
  enum class Phase { starting, between_steps, begun, forward, backward, closed, ended };
  void set(Phase phase);
  template <class Wanted>
  void await(std::unique_lock<std::mutex>& lock, Wanted wanted);

  ReadyTensors ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::starting;
  std::function<void()> function_;
  std::exception_ptr error_, function_error_;
  double loss_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace trigram
