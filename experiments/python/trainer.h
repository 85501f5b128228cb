#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/json.h"
#include "core/metering/meter.h"
#include "core/workload.h"
#include "experiments/config/experiment.h"
#include "experiments/python/user_loop.h"

namespace trigram {

/// The trained tensors of a user's model, in the order in which buckets take them, and its buffers.
struct UserModel {
  std::vector<std::string> names;
  std::vector<std::size_t> lengths;
  std::vector<std::size_t> rows;  // TensorPlace::rows
  std::vector<float> weights;     // all tensors, one after another
  std::vector<float> buffers;
  std::vector<float> constants;  // parameters that are not trained; ranks only start with the same
};

/// Trains a model whose passes the user's own loop makes, with any algorithm: each process is a
/// rank of the world of MPI processes, or the only rank if no launcher started it. The algorithm's
/// loop runs on a thread of its own.
///
/// `options` are those of an experiment that apply: algorithm, optimizer, steps, seed, clip_norm.
/// Throws ConfigError for bad options. All ranks start from rank 0's weights and buffers.
class Trainer {
 public:
  Trainer(const Json& options, UserModel model);
  ~Trainer();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The memory of weights, gradients and buffers, which lives as long as the trainer.
  const Tensor& weights() const { return weights_; }
  const Tensor& gradients() const { return gradients_; }
  const Tensor& buffers() const { return buffers_; }
  /// Rank 0's constants.
  const Tensor& constants() const { return constants_; }
  UserLoop& loop() { return loop_; }

  /// Collective functions, between two steps: every rank's buffers become the mean of all, or those
  /// of rank 0; the mean of a number over the ranks.
  void average_buffers();
  void broadcast_buffers();
  double mean(double value);
  /// The state of this rank except the weights: the optimizer's, and that of the algorithm from
  /// step to step.
  std::string state();
  /// Replaces it by what `state` returned on the same rank, for the same options, before the first
  /// step.
  void set_state(const std::string& saved);
  Counters counters() const { return counters_; }
  long steps_made() const { return steps_made_; }
  /// Ends the training, between two steps. Collective.
  void close();

 private:
  void run() noexcept;
  void rank_main(const Context& raw);
  void collective(const std::function<void(Context)>& operation);

  std::unique_ptr<Experiment> experiment_;
  std::unique_ptr<WorkloadFactory> factory_;
  UserModel model_;
  int rank_ = 0, size_ = 1;
  UserLoop loop_;
  Tensor weights_, gradients_, buffers_, constants_;
  // Of the running loop, between two steps.
  Context context_;
  Optimizer* optimizer_ = nullptr;
  Run* run_ = nullptr;
  Meter* meter_ = nullptr;
  Counters counters_;
  long steps_made_ = 0;  // also those of a run that this one continues
  std::thread thread_;
};

/// True if the algorithm has this option.
bool algorithm_has_option(const Json& algorithm, const std::string& option);

}  // namespace trigram
