#pragma once

#include <torch/script.h>

#include <span>
#include <string>
#include <vector>

#include "core/torch/script.h"
#include "core/torch/trial.h"

namespace trigram {

/// The parameters of one instance of a model that the optimizer trains. Parameters that share
/// memory, as tied weights do, have the same tensor.
struct TrainableParameters {
  explicit TrainableParameters(const torch::jit::Module& module);

  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  std::vector<std::size_t> tensor;  // of each parameter
  std::vector<std::size_t> first;   // of each tensor: its first parameter
  std::vector<int> users;           // of each tensor: the number of its parameters
};

/// Calls `on_gradient(i)` on the thread of the backward pass whenever the gradient of parameter i
/// is accumulated. The result keeps the hooks alive.
std::vector<std::shared_ptr<torch::autograd::Node>> hook_gradients(
    const TrainableParameters& trained, std::function<void(std::size_t)> on_gradient);

/// Makes results on this thread depend on nothing but the operands: one core, and TorchScript's
/// interpreter without its optimizer, which would change operations after the first passes. Counts
/// autograd as used in this process.
void prepare_torch_thread();

/// The text of an error without PyTorch's stack of calls.
std::string first_line(const std::exception& error);

class LoadedScript final : public TorchScript {
 public:
  /// Throws TorchFileError.
  explicit LoadedScript(const TorchScriptOptions& options);

  const TorchParameters& parameters() const override { return parameters_; }
  std::size_t train_samples() const override { return train_.size(); }
  std::unique_ptr<TorchReplica> replica() const override;

  /// Another instance of the model, with the values of the file.
  torch::jit::Module module() const;
  /// For every trainable parameter, in the order of the file: its tensor in `parameters()`.
  const std::vector<std::size_t>& places() const { return places_; }
  /// True if a forward pass in training mode draws random numbers.
  bool is_random() const { return is_random_; }

  struct Batch {
    at::Tensor inputs, targets;
  };
  Batch training_batch(std::span<const std::uint32_t> samples) const;
  /// The held-out samples from `begin` on, at most `count`.
  Batch held_out_batch(std::size_t begin, std::size_t count) const;
  std::size_t held_out_samples() const { return held_out_.size(); }
  /// The mean loss of a batch, and the logits if there are any.
  struct Outcome {
    at::Tensor loss, logits;
  };
  Outcome run(torch::jit::Module& module, const Batch& batch) const;
  TorchLoss loss_kind() const { return options_.loss; }

 private:
  void load_data();
  Batch batch_of(const std::vector<std::int64_t>& samples) const;
  /// One pass of the model in training mode over the first samples. Throws TorchFileError if it
  /// fails.
  TrialResult try_pass() const;
  void order_parameters(const TrainableParameters& trained, const TrialResult& trial);

  TorchScriptOptions options_;
  std::string model_;  // content of the file
  at::Tensor inputs_, targets_;
  std::vector<std::int64_t> train_, held_out_;
  TorchParameters parameters_;
  std::vector<std::size_t> places_;
  bool is_random_ = false;
};

}  // namespace trigram
