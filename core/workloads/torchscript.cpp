#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/config/option_type.h"
#include "core/random/philox.h"
#include "core/torch/script.h"
#include "core/workloads/model.h"
#include "core/workloads/pricing.h"
#include "core/workloads/registry.h"
#include "core/workloads/sampler.h"

namespace trigram {
namespace {

/// A model of PyTorch, as one rank sees it. PyTorch computes its passes on the CPU; on a device
/// that creates phantoms, nothing computes them. Both have the cost of the FLOPs that the model had
/// in its trial pass.
class TorchModel final : public Model {
 public:
  TorchModel(std::shared_ptr<const TorchScript> script, std::size_t batch, const ModelPlace& place,
             bool values)
      : script_(std::move(script)),
        batch_(batch),
        place_(place),
        sampler_(script_->train_samples(), batch, place.rank, place.ranks, place.seed) {
    if (values) replica_ = script_->replica();
  }

  std::vector<std::size_t> tensor_lengths() const override { return parameters().lengths; }
  std::vector<std::size_t> tensor_rows() const override { return parameters().rows; }
  void initialise(std::span<float> weights) const override {
    std::ranges::copy(parameters().weights, weights.begin());
  }
  std::size_t buffer_numel() const override { return parameters().buffer_numel; }
  void place_buffers(const Tensor& buffers) override {
    replica_->place(nullptr, nullptr, buffers.floats().data());
  }

  void forward(Device&, const Tensor& weights) override {
    const auto samples = sampler_.next();
    Philox random(place_.seed, place_.rank, step_++, Purpose::dropout);
    if (!replica_) return;
    if (weights.data() != weights_at_) replica_->place(weights.floats().data(), nullptr, nullptr);
    weights_at_ = weights.data();
    replica_->forward(samples, random.bits());
  }
  void backward(Device&, const Tensor&, const Tensor& gradients,
                const std::function<void()>& on_tensor) override {
    if (!replica_) {
      for (std::size_t i = 0; i < parameters().lengths.size(); ++i) on_tensor();
      return;
    }
    if (gradients.data() != gradients_at_)
      replica_->place(nullptr, gradients.floats().data(), nullptr);
    gradients_at_ = gradients.data();
    replica_->backward(on_tensor);
  }
  Cost forward_cost() const override { return {.flops = parameters().forward_flops}; }
  Cost backward_cost(std::size_t tensor) const override {
    return {.flops = parameters().backward_flops[tensor]};
  }
  void skip(long count) override {
    sampler_.skip(count);
    step_ += count;
  }
  double loss() const override {
    return replica_ ? replica_->loss() : std::numeric_limits<double>::quiet_NaN();
  }
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) const override {
    const TorchQuality quality = replica_->evaluate(weights, max_samples);
    return {quality.loss, quality.accuracy};
  }
  std::size_t batch() const override { return batch_; }

 private:
  const TorchParameters& parameters() const { return script_->parameters(); }

  std::shared_ptr<const TorchScript> script_;
  std::size_t batch_;
  ModelPlace place_;
  Sampler sampler_;
  long step_ = 0;
  std::unique_ptr<TorchReplica> replica_;  // null if tensors are phantoms
  const std::byte *weights_at_ = nullptr, *gradients_at_ = nullptr;
};

struct ScriptOptions {
  std::string model, data;
  TorchLoss loss = TorchLoss::cross_entropy;
  std::size_t batch = 32;
  std::size_t held_out = 10;
  Pricing pricing;
};

FieldTable<ScriptOptions> script_fields() {
  return FieldTable<ScriptOptions>{}
      .required("model", &ScriptOptions::model, text(),
                "TorchScript file, written by torch.jit.save")
      .required("data", &ScriptOptions::data, text(),
                "inputs and targets, a pair of tensors written by torch.save; sample i is element "
                "i of both")
      .field("loss", &ScriptOptions::loss,
             one_of<TorchLoss>({{"cross_entropy", TorchLoss::cross_entropy},
                                {"mse", TorchLoss::mse},
                                {"model", TorchLoss::model}}),
             "cross_entropy: classes are the last dimension of the model's output; mse; or model: "
             "the model is called "
             "with inputs and targets and returns the mean loss")
      .field("batch", &ScriptOptions::batch, count(1, 1 << 20), "samples per worker and step")
      .field("held_out", &ScriptOptions::held_out, count(2, 1 << 20),
             "samples 0, held_out, 2 held_out and so on are not trained on, but evaluated")
      .include(&ScriptOptions::pricing, pricing_fields());
}

std::shared_ptr<const TorchScript> load_script(const ScriptOptions& options,
                                               const std::string& pointer) {
  try {
    return load_torch_script(
        {options.model, options.data, options.loss, options.batch, options.held_out});
  } catch (const TorchFileError& error) {
    const char* key = error.in_data ? "data" : "model";
    throw ConfigError(child(pointer, key),
                      (error.in_data ? options.data : options.model) + ": " + error.what);
  } catch (const std::runtime_error& error) {
    throw ConfigError(child(pointer, "name"), error.what());
  }
}

class ScriptFactory final : public ModelFactory {
 public:
  ScriptFactory(const ScriptOptions& options, const std::string& pointer)
      : options_(options), pointer_(pointer), script_(load_script(options, pointer)) {}

  void check_ranks(int ranks) const override {
    const std::size_t largest = samples() / static_cast<std::size_t>(ranks);
    if (options_.batch > largest)
      throw ConfigError(child(pointer_, "batch"),
                        fmt::format("expected at most {}, as {} ranks share {} samples, not {}",
                                    largest, ranks, samples(), options_.batch));
  }
  std::unique_ptr<Model> make(Device& device, const ModelPlace& place) const override {
    check_ranks(place.ranks);
    if (device.name() == "cuda")
      throw ConfigError(pointer_,
                        "TorchScript models run on CPUs; expected the runtime sim, threads or mpi");
    return std::make_unique<TorchModel>(script_, options_.batch, place, options_.pricing.values);
  }
  bool has_shapes() const override { return true; }
  std::size_t samples() const override { return script_->train_samples(); }
  bool has_accuracy() const override { return options_.loss == TorchLoss::cross_entropy; }
  std::vector<std::filesystem::path> input_files() const override {
    return {options_.model, options_.data};
  }

 private:
  ScriptOptions options_;
  std::string pointer_;
  std::shared_ptr<const TorchScript> script_;
};

}  // namespace

WorkloadEntry torchscript_entry() {
  return component<WorkloadFactory, const std::string&>(
      "torchscript", "a model of PyTorch, from a TorchScript file, with real gradients on the CPU",
      script_fields(), [](const ScriptOptions& options, const std::string& pointer) {
        return make_model_workload_factory(std::make_unique<ScriptFactory>(options, pointer),
                                           options.pricing, pointer);
      });
}

}  // namespace trigram
