#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Models and data of PyTorch, behind an interface without PyTorch's headers. Its implementation is
// a shared library, lib/trigram/libtrigram_torch.so, which is loaded when it is first needed:
// loading PyTorch takes longer than most commands. All functions report errors as
// std::runtime_error, with a phrase that follows the name of the file.

namespace trigram {

/// How a mini-batch becomes a loss, averaged over samples (and positions).
/// - cross_entropy: of logits [n, classes] or [n, positions, classes] with integer targets;
/// - mse: the mean squared error;
/// - model: the model is called with inputs and targets, and returns the loss.
enum class TorchLoss { cross_entropy, mse, model };

struct TorchScriptOptions {
  std::filesystem::path model, data;
  TorchLoss loss = TorchLoss::cross_entropy;
  std::size_t batch = 32;  // samples per worker and step
  std::size_t held_out =
      10;  // samples 0, held_out, 2 held_out ... are evaluated and not trained on
};

/// The trainable parameters of a model, in the order in which backward completes their gradients.
/// Parameters that share memory are one tensor. The order and the FLOPs come from one pass over the
/// first samples.
struct TorchParameters {
  std::vector<std::string> names;
  std::vector<std::size_t> lengths;
  std::vector<std::size_t>
      rows;  // first dimension of a tensor of two or more dimensions; 0 for a vector
  std::vector<float> weights;    // initial values of all tensors, one after another
  std::size_t buffer_numel = 0;  // elements of all buffers of floating-point numbers, in f32
  /// Floating-point operations of the matrix products and convolutions of one pass over a batch. In
  /// the backward pass each counts twice as much, for the gradients of both operands. A tensor has
  /// those since the previous tensor.
  double forward_flops = 0;
  std::vector<double> backward_flops;
};

struct TorchQuality {
  double loss = 0;
  std::optional<double> accuracy;  // of cross_entropy
};

/// The model of one rank. Forward and backward run on a thread that belongs to the replica, which
/// uses one core, so that results do not depend on the caller's thread or stack.
class TorchReplica {
 public:
  virtual ~TorchReplica() = default;
  /// Makes this memory hold the parameters, the gradients and the buffers, without copying later.
  /// Parameters keep the values that the memory has; buffers bring the values of the model. Any of
  /// them may be null, which leaves it.
  virtual void place(float* weights, float* gradients, float* buffers) = 0;
  /// One forward pass in training mode over samples of the training set. `key` seeds random
  /// operations such as dropout.
  virtual void forward(std::span<const std::uint32_t> samples, std::uint64_t key) = 0;
  /// Overwrites the gradients. Calls `on_tensor` on the calling thread, in the order of tensors,
  /// while the pass runs.
  virtual void backward(const std::function<void()>& on_tensor) = 0;
  /// Of the last forward pass; NaN before the first one.
  virtual double loss() const = 0;
  /// The model in evaluation mode, with these weights and the buffers as they are now, on the first
  /// `max_samples` held-out samples. Must not run at the same time as `forward`.
  virtual TorchQuality evaluate(std::span<const float> weights, std::size_t max_samples) = 0;
};

/// A model and its data, which the ranks of a process share, read-only.
class TorchScript {
 public:
  virtual ~TorchScript() = default;
  virtual const TorchParameters& parameters() const = 0;
  virtual std::size_t train_samples() const = 0;
  virtual std::unique_ptr<TorchReplica> replica() const = 0;
};

/// An error in one of the two files.
struct TorchFileError {
  bool in_data = false;  // false: in the model
  std::string what;
};

/// Loads a TorchScript file (torch.jit.save) and a pair of tensors, inputs and targets
/// (torch.save). Throws std::runtime_error if this build has no PyTorch, and TorchFileError if a
/// file cannot be used.
std::shared_ptr<const TorchScript> load_torch_script(const TorchScriptOptions& options);

/// Why this build cannot load TorchScript files; empty if it can.
std::string torch_absent_reason();

/// The function that the shared library exports under this name. It returns null and fills in
/// `error` on failure, because exceptions of the program's own types do not cross the border of the
/// library.
inline constexpr const char* kTorchPluginFunction = "trigram_load_torch_script";
using TorchPlugin = TorchScript*(const TorchScriptOptions& options, TorchFileError& error);

}  // namespace trigram
