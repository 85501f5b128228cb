#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/device.h"
#include "core/workload.h"

namespace trigram {

/// A model with real gradients, as one rank sees it. It computes, and chooses mini-batches, but
/// knows neither buckets nor time. The flat weights and gradients hold its tensors in the order in
/// which backward completes their gradients. On a device that creates phantoms the model issues the
/// same operations, without values.
class Model {
 public:
  virtual ~Model() = default;
  /// Lengths of the tensors, in the order in which backward completes them.
  virtual std::vector<std::size_t> tensor_lengths() const = 0;
  /// The tensors' rows (TensorPlace), in the same order; empty if they have no shapes.
  virtual std::vector<std::size_t> tensor_rows() const { return {}; }
  /// The number of weights.
  std::size_t numel() const;
  /// Writes the initial weights, which are the same on all ranks.
  virtual void initialise(std::span<float> weights) const = 0;

  /// One forward pass over the rank's next mini-batch.
  virtual void forward(Device& device, const Tensor& weights) = 0;
  /// The number of elements of the model's buffers (Workload::buffers).
  virtual std::size_t buffer_numel() const { return 0; }
  /// Moves the model's buffers, with their values, into the memory of `buffers`.
  virtual void place_buffers(const Tensor& /*buffers*/) {}
  /// The costs of a forward pass, and of the backward pass from the previous tensor to this one,
  /// for a model that does not compute with the device's operations. The device charges all other
  /// costs.
  virtual Cost forward_cost() const { return {}; }
  virtual Cost backward_cost(std::size_t /*tensor*/) const { return {}; }

  /// Calls `on_tensor` each time the gradient of the next tensor is complete and its weights will
  /// not be read again, so that they may be updated at once.
  virtual void backward(Device& device, const Tensor& weights, const Tensor& gradients,
                        const std::function<void()>& on_tensor) = 0;
  /// See Workload::skip.
  virtual void skip(long count) = 0;
  /// Mean loss of the last mini-batch; NaN if there are no values.
  virtual double loss() const = 0;

  virtual Quality evaluate(std::span<const float> weights, std::size_t max_samples) const = 0;
  virtual std::size_t batch() const = 0;
};

/// The rank, world size and seed for which a model is created.
struct ModelPlace {
  int rank = 0;
  int ranks = 1;
  std::uint64_t seed = 0;
};

/// Read-only data that the ranks of a process share to create a model.
class ModelFactory {
 public:
  virtual ~ModelFactory() = default;
  /// Throws ConfigError if there is not enough data for this many ranks.
  virtual void check_ranks(int ranks) const = 0;
  /// Creates a model whose activations are on `device`.
  virtual std::unique_ptr<Model> make(Device& device, const ModelPlace& place) const = 0;
  /// Returns a function whose n-th call returns the load of the rank's n-th mini-batch: its
  /// computation time as a multiple of the time in the profile that the model is priced as. Null if
  /// the load is always 1.
  virtual std::function<double()> make_loads(const ModelPlace& /*place*/) const { return {}; }
  /// True if the models have tensor_rows.
  virtual bool has_shapes() const { return false; }
  /// See WorkloadFactory::samples.
  virtual std::size_t samples() const { return 0; }
  /// True if the models' mini-batches differ in computation.
  virtual bool steps_differ() const { return false; }
  /// See WorkloadFactory::has_accuracy.
  virtual bool has_accuracy() const { return false; }
  virtual std::vector<std::filesystem::path> input_files() const = 0;
};

/// The workload of a real model. The rank's device runs the model's operations and charges for
/// them. `values` is false if the device creates phantoms.
std::unique_ptr<Workload> model_workload(const Context& ctx, std::unique_ptr<Model> model,
                                         bool values);

}  // namespace trigram
