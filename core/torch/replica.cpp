#include <ATen/CPUGeneratorImpl.h>

#include <cstring>
#include <future>
#include <limits>
#include <mutex>
#include <thread>

#include "core/torch/loaded_script.h"
#include "core/torch/ready_tensors.h"
#include "core/torch/trial.h"

namespace trigram {
namespace {

/// A thread that runs one function at a time. PyTorch needs more stack than the simulator's actors
/// have, and keeps state per thread that a switch of actors in the middle of a pass would mix up.
class TorchThread {
 public:
  TorchThread() : thread_([this] { loop(); }) {}
  ~TorchThread() {
    post({});
    thread_.join();
  }
  /// Returns at once. The function must not throw.
  void post(std::function<void()> function) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_; });
    next_ = std::move(function);
    waiting_ = true;
    changed_.notify_all();
  }
  /// Returns when the function has, and rethrows its exception.
  void run(const std::function<void()>& function) {
    std::promise<void> done;
    post([&] {
      try {
        function();
        done.set_value();
      } catch (const std::exception& error) {
        done.set_exception(
            std::make_exception_ptr(std::runtime_error("PyTorch: " + first_line(error))));
      }
    });
    done.get_future().get();
  }

 private:
  void loop() {
    prepare_torch_thread();
    for (;;) {
      std::function<void()> function;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waiting_; });
        function = std::move(next_);
        waiting_ = false;
        changed_.notify_all();
      }
      if (!function) return;
      function();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> next_;
  bool waiting_ = false;
  std::thread thread_;  // last, because it uses the others
};

/// PyTorch's generator of random numbers belongs to the process. With one pass at a time, each with
/// its own seed, the numbers do not depend on what other ranks of the process do.
std::mutex generator_mutex;

/// An instance of the model whose parameters and buffers are views of flat memory.
class PlacedModule {
 public:
  PlacedModule(const LoadedScript& script)
      : script_(script), module_(script.module()), trained_(module_) {
    for (const at::Tensor& buffer : module_.buffers())
      if (buffer.scalar_type() == at::kFloat) buffers_.push_back(buffer);
  }
  torch::jit::Module& module() { return module_; }
  const TrainableParameters& trained() const { return trained_; }

  void place_weights(float* memory) {
    place([&](at::Tensor& p, float* at) { p.set_data(view(at, p)); }, memory);
  }
  void place_gradients(float* memory) {
    place([&](at::Tensor& p, float* at) { p.mutable_grad() = view(at, p); }, memory);
  }
  void place_buffers(float* memory) {
    for (at::Tensor& buffer : buffers_) {
      const at::Tensor values = buffer.detach().contiguous();
      std::memcpy(memory, values.data_ptr<float>(), values.nbytes());
      buffer.set_data(view(memory, buffer));
      memory += buffer.numel();
    }
  }
  void copy_buffers(const float* from) {
    for (at::Tensor& buffer : buffers_) {
      at::NoGradGuard no_grad;
      buffer.copy_(view(const_cast<float*>(from), buffer));
      from += buffer.numel();
    }
  }

 private:
  static at::Tensor view(float* memory, const at::Tensor& like) {
    return torch::from_blob(memory, like.sizes(), at::kFloat);
  }
  template <class Set>
  void place(Set set, float* memory) {
    const auto& lengths = script_.parameters().lengths;
    std::vector<float*> at;
    for (const std::size_t length : lengths) {
      at.push_back(memory);
      memory += length;
    }
    for (std::size_t i = 0; i < trained_.parameters.size(); ++i)
      set(trained_.parameters[i], at[script_.places()[i]]);
  }

  const LoadedScript& script_;
  torch::jit::Module module_;
  TrainableParameters trained_;
  std::vector<at::Tensor> buffers_;
};

class Replica final : public TorchReplica {
 public:
  explicit Replica(const LoadedScript& script)
      : script_(script), ready_(script.parameters().lengths.size(), users()) {
    thread_.run([this] {
      model_.emplace(script_);
      model_->module().train();
      hooks_ = hook_gradients(model_->trained(),
                              [this](std::size_t i) { ready_.complete(script_.places()[i]); });
    });
  }
  ~Replica() override {
    thread_.run([this] {  // after a pass that is still running
      loss_ = at::Tensor();
      hooks_.clear();
      model_.reset();
      evaluated_.reset();
    });
  }
  void place(float* weights, float* gradients, float* buffers) override {
    thread_.run([&] {
      if (weights) model_->place_weights(weights);
      if (gradients) model_->place_gradients(gradients_ = gradients);
      if (buffers) model_->place_buffers(buffers_ = buffers);
    });
  }
  void forward(std::span<const std::uint32_t> samples, std::uint64_t key) override {
    thread_.run([&] {
      std::unique_lock lock(generator_mutex, std::defer_lock);
      if (script_.is_random()) {
        lock.lock();
        at::manual_seed(key);
      }
      loss_ = at::Tensor();
      loss_ = script_.run(model_->module(), script_.training_batch(samples)).loss;
      loss_value_ = loss_.item<double>();
    });
  }
  void backward(const std::function<void()>& on_tensor) override {
    ready_.begin();
    thread_.post([this] {
      try {
        autograd_starts_here();
        std::fill_n(gradients_, script_.parameters().weights.size(), 0.0f);
        loss_.backward();
        loss_ = at::Tensor();  // frees the activations
        ready_.finish();
      } catch (const std::exception& error) {
        ready_.finish(std::make_exception_ptr(std::runtime_error("PyTorch: " + first_line(error))));
      }
    });
    ready_.take(on_tensor);
  }
  double loss() const override { return loss_value_; }
  TorchQuality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    TorchQuality quality;
    thread_.run([&] {
      at::NoGradGuard no_grad;
      if (!evaluated_) {
        evaluated_.emplace(script_);
        evaluated_->module().eval();
      }
      std::vector<float> own(weights.begin(), weights.end());
      evaluated_->place_weights(own.data());
      if (buffers_) evaluated_->copy_buffers(buffers_);
      quality = mean_quality(std::min(max_samples, script_.held_out_samples()));
    });
    return quality;
  }

 private:
  std::vector<int> users() const {
    std::vector<int> count(script_.parameters().lengths.size());
    for (const std::size_t place : script_.places()) ++count[place];
    return count;
  }
  TorchQuality mean_quality(std::size_t samples) {
    constexpr std::size_t kBatch = 128;
    double loss = 0, correct = 0, rows = 0;
    for (std::size_t begin = 0; begin < samples; begin += kBatch) {
      const std::size_t count = std::min(kBatch, samples - begin);
      const auto batch = script_.held_out_batch(begin, count);
      const auto outcome = script_.run(evaluated_->module(), batch);
      loss += outcome.loss.item<double>() * static_cast<double>(count);
      if (!outcome.logits.defined()) continue;
      const at::Tensor targets = batch.targets.reshape({-1});
      correct += outcome.logits.argmax(-1).eq(targets).sum().item<double>();
      rows += static_cast<double>(targets.numel());
    }
    TorchQuality quality{loss / static_cast<double>(samples), {}};
    if (rows > 0) quality.accuracy = correct / rows;
    return quality;
  }

  const LoadedScript& script_;
  ReadyTensors ready_;
  std::optional<PlacedModule> model_, evaluated_;
  std::vector<std::shared_ptr<torch::autograd::Node>> hooks_;
  float *gradients_ = nullptr, *buffers_ = nullptr;
  at::Tensor loss_;
  double loss_value_ = std::numeric_limits<double>::quiet_NaN();
  TorchThread thread_;  // last, so that it ends first
};

}  // namespace

std::unique_ptr<TorchReplica> LoadedScript::replica() const {
  return std::make_unique<Replica>(*this);
}

}  // namespace trigram
